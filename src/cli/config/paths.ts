// Finds the directories for settings, state and cache.

import nodePath from 'node:path';
import { causesOf, SvcError } from '../../base/errors.ts';
import { isShowable } from '../../base/security/typed-word.ts';
import type { System } from '../../base/system.ts';

export const CONFIG_FILE_NAME = 'config.json';

/** The facts about the process that determine directories. */
export type PathsHost = Pick<System, 'env' | 'platform' | 'home' | 'cwd'>;

/** `config`: profiles and keys. `state`: the ledger and the sandbox. `cache`: data that can be fetched again. */
export type DirectoryKind = 'config' | 'state' | 'cache';

/** Returns the directory of this kind, for writing. @throws SvcError `config` without a home directory */
export function requireDirectory(system: PathsHost, kind: DirectoryKind): string {
  const directory = directoryOf(system, kind);
  if (directory !== undefined) return directory;
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
  const { directory, namedBy } = findDirectory(system, kind);
  if (kind === 'state' && namedBy !== undefined) refuseRelative(system, namedBy);
  return directory;
}

/** Names the variable that sets another directory, for an error about a directory that svc could not make or find. */
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

/** A variable and its value, which is a path. */
type PathVariable = readonly [variable: string, value: string];

interface FoundDirectory {
  readonly directory: string | undefined;
  /** The variable that names the directory; undefined for a variable of the system such as `XDG_STATE_HOME`. */
  readonly namedBy?: PathVariable | undefined;
}

function findDirectory({ platform, env, home, cwd }: PathsHost, kind: DirectoryKind): FoundDirectory {
  const path = pathOf(platform);
  const chosen = env[VARIABLES[kind]];
  if (chosen) return { directory: path.resolve(cwd, chosen), namedBy: [VARIABLES[kind], chosen] };
  const inHome = (...parts: string[]): FoundDirectory =>
    home ? { directory: path.join(home, ...parts), namedBy: ['HOME', home] } : { directory: undefined };
  if (platform === 'win32') {
    const [variable, folder, name] = WINDOWS[kind];
    const appData = env[variable];
    const isKnown = appData !== undefined && path.isAbsolute(appData);
    return isKnown ? { directory: path.join(appData, name) } : inHome(folder, name);
  }
  const [variable, folder] = XDG[kind];
  const xdg = env[variable];
  // The XDG rules say that a relative path is ignored.
  const isXdg = platform !== 'darwin' && xdg !== undefined && path.isAbsolute(xdg);
  return isXdg ? { directory: path.join(xdg, 'svc') } : inHome(platform === 'darwin' ? MAC[kind] : folder, 'svc');
}

function pathOf(platform: NodeJS.Platform): nodePath.PlatformPath {
  return platform === 'win32' ? nodePath.win32 : nodePath.posix;
}

/** Refuses a relative path: in another working directory the ledger would be unknown, and its rows paid for twice. */
function refuseRelative({ platform }: PathsHost, [variable, typed]: PathVariable): void {
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
