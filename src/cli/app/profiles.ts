// Runs one command for several profiles: `--profiles`.

import { EXIT_CODES, FAILURES_BY_WEIGHT, isSvcError, SvcError } from '../../base/errors.ts';
import { exactMembers } from '../../base/json/exact.ts';
import { KEY_VARIABLES, keysAtHand } from '../config/keys.ts';
import { resolveSettings, type Settings } from '../config/settings.ts';
import { ReaderGone } from '../output/output.ts';
import type { Terminal } from '../output/terminal.ts';
import type { View } from '../output/view.ts';
import type { Command, Context } from './command.ts';
import { type ContextDeps, createContext } from './context.ts';
import type { Globals } from './global-parameters.ts';
import { type ListPrinter, listPrinter, oneBatch } from './print.ts';
import { openQuery } from './query.ts';

interface ProfilesRun {
  readonly command: Command;
  readonly input: Readonly<Record<string, unknown>>;
  readonly globals: Globals;
  readonly deps: Pick<ContextDeps, 'system' | 'terminal' | 'redactor'>;
  /** Takes the output format from the settings of the first profile. @throws SvcError `usage` for an option that it excludes */
  readonly useFormat: (settings: Settings) => void;
  /** Reports the failure of a profile and returns its exit code. */
  readonly reportFailure: (error: unknown, profile: Pick<OneProfile, 'name' | 'globals'>) => number;
}

interface OneProfile {
  readonly name: string;
  readonly globals: Globals;
  readonly settings: Settings;
}

/**
 * Runs a command once for each profile, in order, and merges the rows into one list. The redactor learns the secrets of
 * all profiles before the first request. If a profile fails, reports it and continues.
 */
export async function runProfiles(names: readonly string[], run: ProfilesRun): Promise<number> {
  const { command, deps } = run;
  refuseConflicts(run);
  const profiles: OneProfile[] = [];
  for (const name of names) {
    const globals = { ...run.globals, profile: name };
    const settings = await resolveSettings(deps.system, { ...globals, profileOption: '--profiles' });
    for (const key of keysAtHand(deps.system, settings.stored)) deps.redactor.addSecret(key);
    profiles.push({ name, globals, settings });
  }
  const [first] = profiles;
  if (!first) throw new SvcError('bug', 'no profile was named');
  for (const notice of first.settings.notices) deps.terminal.notices.warn(notice);
  run.useFormat(first.settings);
  const { fields } = run.globals;
  const globals = fields === undefined ? run.globals : { ...run.globals, fields: `profile,${fields}` };
  const base = createContext({ ...deps, globals, settings: first.settings, readOnly: true });
  try {
    const context = { ...base, query: await openQuery(base, command) };
    const rows: unknown[] = [];
    const codes: number[] = [];
    const list: { print?: ListPrinter<unknown> } = {};
    const collect = async (profile: string, view: View): Promise<(row: unknown) => void> => {
      // The first profile that gets here checks --fields, before it sends anything.
      list.print ??= await listPrinter(context, withProfileColumn(view));
      return (row) => void rows.push(withProfile(profile, row));
    };
    for (const profile of profiles) codes.push(await runOne(profile, run, base, (view) => collect(profile.name, view)));
    await list.print?.(oneBatch(rows));
    return EXIT_CODE_ORDER.find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0;
  } finally {
    await base.close();
  }
}

/** Refuses options and variables that name one service or one key. */
function refuseConflicts({ globals, deps }: ProfilesRun): void {
  const options = {
    '--profile': globals.profile,
    '--sandbox': globals.sandbox,
    '--base-url': globals.baseUrl,
    '--curl': globals.curl,
  };
  const keyVariables = Object.values(KEY_VARIABLES).flatMap((names) => names.flatMap((name) => [name, `${name}_FILE`]));
  const used =
    Object.entries(options).find(([, given]) => given !== undefined && given !== false)?.[0] ??
    ['SVC_BASE_URL', ...keyVariables].find((variable) => deps.system.env[variable]);
  if (used === undefined) return;
  throw new SvcError('usage', `--profiles and ${used} cannot be used together`, {
    hint: 'Leave one of them out: each profile has its own base URL, and its keys go nowhere else.',
  });
}

/** Runs the command for one profile, and returns its exit code. */
async function runOne(
  profile: OneProfile,
  run: ProfilesRun,
  base: Context,
  collect: Context['collect'],
): Promise<number> {
  const { name, globals, settings } = profile;
  const { command, input, deps } = run;
  const notices = deps.terminal.notices.withSubject(name);
  const terminal: Terminal = { ...deps.terminal, notices, close: () => notices.flushed() };
  // All profiles share one output format and one time style, since their rows form one list.
  const { output, time } = base.settings;
  const own = { ...settings, output, time, timeoutMs: { ...settings.timeoutMs, value: undefined } };
  const context = createContext({ ...deps, terminal, globals, settings: own, readOnly: true, signal: base.signal });
  try {
    const result = await command.run({ ...context, collect }, input);
    return typeof result === 'number' ? result : 0;
  } catch (error) {
    // A usage error, an interrupt or a closed pipe affects every profile alike.
    if (base.signal.aborted || error instanceof ReaderGone || isSvcError(error, 'usage')) throw error;
    return run.reportFailure(error, profile);
  } finally {
    await context.close();
  }
}

/** Exit codes by priority: failures first, then findings. */
const EXIT_CODE_ORDER = [...FAILURES_BY_WEIGHT, EXIT_CODES.entries_missing, EXIT_CODES.threshold];

function withProfileColumn(view: View): View {
  const fields = ['profile', ...view.fields.filter((field) => field !== 'profile')];
  const columns = view.columns.filter(({ path }) => path !== 'profile');
  return { ...view, fields, columns: [{ path: 'profile', kind: 'id' }, ...columns] };
}

/** Adds the profile to a row as its first column. Numbers keep the digits that the service sent. */
function withProfile(profile: string, row: unknown): unknown {
  return Object.assign({ profile }, exactMembers(Object(row)), { profile });
}
