import nodePath from 'node:path';
import { causesOf, SvcError } from '../../base/errors.ts';
import { isShowable } from '../../base/security/typed-word.ts';
import type { System } from '../../base/system.ts';

export const CONFIG_FILE_NAME = 'config.json';

/** The facts about the process that determine directories. */
export type PathsHost = Pick<System, 'env' | 'platform' | 'home' | 'cwd'>;

/** The kinds of directories: profiles and keys; what was paid for and the sandbox; data that can be fetched again. */
export type DirectoryKind = 'config' | 'state' | 'cache';

/** The names that svc uses in each directory. Others belong to the operator, who may have chosen a shared directory. */
export const KEPT_NAMES: Readonly<Record<DirectoryKind, RegExp>> = {
  config: /^\.?config\.json(?:\..*)?$/,
  state: /^(?:\.?3ds-sessions\.json(?:\..*)?|archives|jobs|ledger|pacing|runs|sandbox|spool|tails)$/,
  cache: /^(?:index|\.?(?:(?:key-)?applications|entity-types|known-keys|permissions|tenants)\.json(?:\..*)?)$/,
};

/** The names that svc uses in each directory below the state directory; others belong to the operator. */
export const KEPT_BELOW: Readonly<Record<string, RegExp>> = {
  archives: /^[0-9a-f]{16}(?:\..*)?$/,
  jobs: /^[\w-]{1,80}$/,
  ledger: /^(?:[\w-]{1,80}|\.lock.*)$/,
  pacing: /^(?:secret|[^.].*\.(?:json|log))(?:\..*)?$/,
  // An earlier build kept copies of request files there.
  runs: /^(?:run-.*|elsewhere|damaged|begin\.lock.*)$/,
  sandbox: /^(?:journal\.jsonl|ledger\.jsonl|files|objects)/,
  spool: /^\.?\d+-[0-9a-f]{12}\.csv/,
  tails: /^\.?\d{8}T\d{6}-[0-9a-f]{8}\.json/,
};

/** Returns the directory of this kind, for writing. @throws SvcError `config` without a home directory */
export function requireDirectory(system: PathsHost, kind: DirectoryKind): string {
  const found = directoryOf(system, kind);
  if (found !== undefined) return found;
  throw new SvcError('config', `there is no home directory for the ${kind}`, {
    hint: `Set HOME, or set ${VARIABLES[kind]} to a directory.`,
  });
}

const VARIABLES = { config: 'SVC_CONFIG_DIR', state: 'SVC_STATE_DIR', cache: 'SVC_CACHE_DIR' } as const;

// The conventions of each system: the XDG variables with their defaults, ~/Library, and AppData.
const XDG = {
  config: ['XDG_CONFIG_HOME', '.config'],
  state: ['XDG_STATE_HOME', '.local/state'],
  cache: ['XDG_CACHE_HOME', '.cache'],
} as const;
const MAC = { config: 'Library/Preferences', state: 'Library/Application Support', cache: 'Library/Caches' } as const;
const WINDOWS = {
  config: ['APPDATA', 'AppData/Roaming', 'svc/Config'],
  state: ['LOCALAPPDATA', 'AppData/Local', 'svc/State'],
  cache: ['LOCALAPPDATA', 'AppData/Local', 'svc/Cache'],
} as const;

/**
 * Returns the directory of this kind: from its variable, or by the system's convention. Undefined without a home.
 * @throws SvcError `config` for a state directory that a relative SVC_STATE_DIR or HOME names
 */
export function directoryOf(system: PathsHost, kind: DirectoryKind): string | undefined {
  const { directory, named } = findDirectory(system, kind);
  if (kind === 'state' && named !== undefined) refuseUnsteady(system, named);
  return directory;
}

/** Names the variable of a directory that the system did not let `svc` make or find. */
export function directoryAdvice(system: PathsHost, error: Error): string | undefined {
  const isAbout = causesOf(error).some(
    (cause) => 'syscall' in cause && ['mkdir', 'stat'].includes(String(cause.syscall)),
  );
  if (!isAbout) return undefined;
  const kind = (['state', 'config'] as const).find((each) => {
    const { directory } = findDirectory(system, each);
    return directory !== undefined && error.message.includes(directory);
  });
  const kept = kind === 'state' ? '; keep it, because it records what was paid for' : '';
  return kind && `${VARIABLES[kind]} names one${kept}.`;
}

/** A path that was typed, and the variable that has it. */
type Named = readonly [variable: string, typed: string];

interface Found {
  readonly directory: string | undefined;
  /** What names it: undefined where the system does. */
  readonly named?: Named | undefined;
}

function findDirectory({ platform, env, home, cwd }: PathsHost, kind: DirectoryKind): Found {
  const path = pathOf(platform);
  const chosen = env[VARIABLES[kind]];
  if (chosen) return { directory: path.resolve(cwd, chosen), named: [VARIABLES[kind], chosen] };
  const below = (...parts: string[]): Found =>
    home ? { directory: path.join(home, ...parts), named: ['HOME', home] } : { directory: undefined };
  if (platform === 'win32') {
    const [variable, folder, name] = WINDOWS[kind];
    const appData = env[variable];
    const isKnown = appData !== undefined && path.isAbsolute(appData);
    return isKnown ? { directory: path.join(appData, name) } : below(folder, name);
  }
  const [variable, folder] = XDG[kind];
  const xdg = env[variable];
  // The XDG rules say that a relative path is ignored.
  const isXdg = platform !== 'darwin' && xdg !== undefined && path.isAbsolute(xdg);
  return isXdg ? { directory: path.join(xdg, 'svc') } : below(platform === 'darwin' ? MAC[kind] : folder, 'svc');
}

function pathOf(platform: NodeJS.Platform): nodePath.PlatformPath {
  return platform === 'win32' ? nodePath.win32 : nodePath.posix;
}

/** Refuses a path that means another directory elsewhere: a ledger there would be unknown, and its rows paid for twice. */
function refuseUnsteady({ platform }: PathsHost, [variable, typed]: Named): void {
  const hasTilde = /(?:^|[/\\])~(?:[/\\]|$)/.test(typed);
  if (!hasTilde && pathOf(platform).isAbsolute(typed)) return;
  const problem = hasTilde
    ? 'contains a literal ~, which no shell replaced'
    : 'is a relative path, which is another directory after each cd';
  const example = variable === 'SVC_STATE_DIR' && !hasTilde && isShowable(typed) ? typed : '.svc';
  throw new SvcError('config', `${variable} ${problem}`, {
    hint: `What was paid for would be unknown elsewhere, and paid for again. Set an absolute path, such as SVC_STATE_DIR="$PWD/${example}".`,
  });
}
