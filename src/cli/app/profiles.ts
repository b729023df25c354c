import { EXIT_CODES, FAILURES_BY_WEIGHT, isSvcError, SvcError } from '../../base/errors.ts';
import { exactItem } from '../../base/json/exact.ts';
import { sourceFrom, sourceOf } from '../../base/json/source.ts';
import { KEY_VARIABLES, keysAtHand } from '../config/keys.ts';
import { resolveSettings, type Settings } from '../config/settings.ts';
import { ReaderGone } from '../output/output.ts';
import type { Terminal } from '../output/terminal.ts';
import { isObject, type View } from '../output/view.ts';
import type { Command, Context, RowSink } from './command.ts';
import { type ContextDeps, createContext } from './context.ts';
import type { Globals } from './global-parameters.ts';
import { type CheckedRenderer, formatOf, openQuery, rendererFor } from './print.ts';

interface ProfilesRun {
  readonly command: Command;
  readonly input: Readonly<Record<string, unknown>>;
  readonly globals: Globals;
  readonly deps: Pick<ContextDeps, 'system' | 'terminal' | 'redactor'>;
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
  const base = createContext({
    ...deps,
    globals: withProfileField(run.globals),
    settings: first.settings,
    readOnly: true,
  });
  try {
    const context = { ...base, query: await openQuery(base, command) };
    const codes = await codesOf(profiles, run, context);
    return EXIT_CODE_ORDER.find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0;
  } finally {
    await base.close();
  }
}

/** Refuses options that make no sense for several profiles. */
function refuseConflicts({ globals, input, deps }: ProfilesRun): void {
  const options = {
    '--profile': globals.profile,
    '--sandbox': globals.sandbox,
    '--base-url': globals.baseUrl,
    '--curl': globals.curl,
    '--start': input['start'],
    '--follow': input['follow'],
    '<dir>': input['dir'],
  };
  const ofKeys = Object.values(KEY_VARIABLES).flatMap((names) => names.flatMap((name) => [name, `${name}_FILE`]));
  const used =
    Object.entries(options).find(([, given]) => given !== undefined && given !== false)?.[0] ??
    ['SVC_BASE_URL', ...ofKeys].find((variable) => deps.system.env[variable]);
  if (used === undefined) return;
  throw new SvcError('usage', `--profiles and ${used} cannot be used together`, {
    hint: 'Leave one of them out: each profile has its own base URL, and its keys go nowhere else.',
  });
}

function withProfileField(globals: Globals): Globals {
  const { fields } = globals;
  if (fields === undefined || fields.split(',').includes('profile')) return globals;
  return { ...globals, fields: `profile,${fields}` };
}

async function codesOf(profiles: readonly OneProfile[], run: ProfilesRun, context: Context): Promise<number[]> {
  const rows = new ProfileRows(context);
  const codes: number[] = [];
  try {
    for (const profile of profiles) codes.push(await runOne(profile, run, context, rows));
  } catch (error) {
    // Ending the list keeps the output parsable.
    await rows.cut().catch(() => undefined);
    throw error;
  }
  await rows.end();
  return codes;
}

async function runOne(profile: OneProfile, run: ProfilesRun, base: Context, rows: ProfileRows): Promise<number> {
  const { name, globals, settings } = profile;
  const { command, input, deps } = run;
  const notices = deps.terminal.notices.of(name);
  const terminal: Terminal = { ...deps.terminal, notices, close: () => notices.settled() };
  // All profiles share one output format and one time style, since their rows form one list.
  const { output, time } = base.settings;
  const own = { ...settings, output, time, timeoutMs: { ...settings.timeoutMs, value: undefined } };
  const context = createContext({ ...deps, terminal, globals, settings: own, readOnly: true, signal: base.signal });
  try {
    const result = await command.run({ ...context, query: base.query, rows: rows.of(name) }, input);
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

// A table waits for this many rows, so that the rows of every profile influence the column widths.
const MOST_HELD = 1000;

/** The rows of all profiles as one list, each with its profile. */
class ProfileRows {
  readonly #context: Context;
  #renderer: CheckedRenderer<unknown> | undefined;
  #held: unknown[] = [];
  #begun = false;

  constructor(context: Context) {
    this.#context = context;
  }

  of(profile: string): RowSink {
    return {
      open: async (view) => {
        // Every profile prints rows of the same view, so the first view fits all.
        this.#renderer ??= await rendererFor(this.#context, withProfileColumn(view) as View, 'list');
        return async (batches) => {
          let count = 0;
          for await (const batch of batches) {
            count += batch.length;
            await this.#add(batch.map((row) => labeled(profile, row)));
          }
          return count;
        };
      },
    };
  }

  async end(): Promise<void> {
    const { notices, out } = this.#context;
    await this.#flush();
    await out.write((await this.#renderer?.end?.()) ?? '');
    if (out.isTerminal) notices.setApart();
    const { dropped = [] } = this.#renderer ?? {};
    if (dropped.length > 0) notices.note(`hidden columns: ${dropped.join(', ')} (use --wide or --fields)`);
    this.#renderer?.check?.();
  }

  async cut(): Promise<void> {
    if (this.#begun) await this.#context.out.write((await this.#renderer?.end?.(true)) ?? '');
  }

  async #add(rows: readonly unknown[]): Promise<void> {
    for (const row of rows) this.#held.push(row);
    if (formatOf(this.#context, 'list') !== 'table' || this.#held.length >= MOST_HELD) await this.#flush();
  }

  async #flush(): Promise<void> {
    const rows = this.#held;
    const head = this.#begun ? '' : (this.#renderer?.begin?.() ?? '');
    this.#held = [];
    this.#begun = true;
    await this.#context.out.write(head + ((await this.#renderer?.rows(rows)) ?? ''));
  }
}

function withProfileColumn<T>(view: View<T>): View<T> {
  const fields = ['profile', ...view.fields.filter((field) => field !== 'profile')];
  const columns = view.columns.filter(({ path }) => path !== 'profile');
  return { ...view, fields, columns: [{ path: 'profile', kind: 'id' }, ...columns] };
}

/** Adds the profile to a row as its first column. Numbers keep the digits that the service sent. */
function labeled(profile: string, row: unknown): unknown {
  const source = sourceOf(row);
  if (source === undefined || !isObject(row) || 'profile' in row) return Object.assign({ profile }, row, { profile });
  const rest = source.text === '{}' ? '}' : `,${source.text.slice(1)}`;
  const text = `{"profile":${JSON.stringify(profile)}${rest}`;
  return exactItem(JSON.parse(text), sourceFrom(text));
}
