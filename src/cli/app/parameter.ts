import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { inspectTarget, refuseWindowsName } from '../../base/files/path.ts';
import type { System } from '../../base/system.ts';
import { OUTPUT_FORMATS, parseDuration, TIME_STYLES } from '../config/values.ts';

/** One option or argument of a command, as data: the parser, help and completion are made from it. */
export interface Parameter<T> {
  readonly kind: 'argument' | 'flag' | 'value' | 'repeated';
  /** `--entity-type <type>` for an option, `<file>` or `[job]` for an argument. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[] | undefined;
  readonly default?: T | undefined;
  /** Options that it cannot be used with, by the names that the run function sees. */
  readonly conflicts?: readonly string[] | undefined;
  /** Environment variables that stand in for the option, for help. */
  readonly environment?: string;
  /** Values for completion to offer, where they are neither choices nor told by `<file>`, `<dir>`, `<job>` in the syntax. */
  readonly suggest?: Suggest | undefined;
  readonly parse: ValueParser<unknown>;
}

/** A value that completion offers, and a few words about it. */
export type Suggestion = readonly [value: string, description: string];

/** Where completion finds values: on this machine by their kind, or from a function that asks nobody. */
export type Suggest =
  | 'profile'
  | 'entity type'
  | 'field'
  | 'job'
  | 'run'
  | (() => readonly Suggestion[] | Promise<readonly Suggestion[]>);

/** The parameters of a command, by the name that its run function sees. Arguments are in typed order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What a run function gets for its parameters. */
export type Input<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

const asTyped: ValueParser<string> = (value) => value;

export function argument(syntax: `<${string}>`, description: string, parse = asTyped): Parameter<string> {
  return { kind: 'argument', syntax, description, parse };
}

export function optionalArgument(
  syntax: `[${string}]`,
  description: string,
  parse = asTyped,
): Parameter<string | undefined> {
  return { kind: 'argument', syntax, description, parse };
}

/** Every word that is no option from here on, at least one; what looks like an option must come after `--`. */
export function rest(syntax: `<${string}...>`, description: string): Parameter<readonly string[]> {
  return { kind: 'argument', syntax, description, parse: asTyped };
}

export function flag(syntax: string, description: string): Parameter<boolean> {
  return { kind: 'flag', syntax, description, default: false, parse: () => true };
}

export function value<T>(syntax: string, description: string, parse: ValueParser<T>): Parameter<T | undefined> {
  return { kind: 'value', syntax, description, parse };
}

export function choice<const C extends string>(
  syntax: string,
  description: string,
  choices: readonly C[],
): Parameter<C | undefined> {
  return { kind: 'value', syntax, description, choices, parse: asTyped };
}

export function repeated<T>(syntax: string, description: string, parse: ValueParser<T>): Parameter<readonly T[]> {
  return { kind: 'repeated', syntax, description, default: [], parse };
}

export function optionWords(parameter: Parameter<unknown>): string[] {
  // Not those of the value's name: `<json|->` holds a dash too.
  const words = parameter.syntax.replace(/ [<[].*$/, '').split(/[ ,]+/);
  return words.filter((word) => word.startsWith('-'));
}

export function suggesting<T>(suggest: Suggest, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, suggest };
}

export function conflicting<T>(conflicts: readonly string[], parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, conflicts };
}

export function takesValue(parameter: Parameter<unknown>): boolean {
  return parameter.kind === 'value' || parameter.kind === 'repeated';
}

/** Reads the text of an option or argument; throws a usage error that never repeats the text (R05). */
export type ValueParser<T> = (text: string) => T;

export const text: ValueParser<string> = (value) => {
  if (value === '') throw new SvcError('usage', 'must not be empty');
  return value;
};

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueParser<number> {
  const words = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value) => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isNaN(number) || number < min || number > max)
      throw new SvcError('usage', `must be a whole number ${words}`);
    return number;
  };
}

export const pattern: ValueParser<RegExp> = (value) => {
  try {
    return new RegExp(value, 'u');
  } catch {
    throw new SvcError('usage', 'must be a regular expression');
  }
};

/** A SHA-256 as hexadecimal digits, in lower case whichever was typed. */
export const sha256: ValueParser<string> = (value) => {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new SvcError('usage', 'must be a SHA-256: 64 hexadecimal digits');
  return value.toLowerCase();
};

export const hostName: ValueParser<string> = (value) => {
  if (!/^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])$/i.test(value))
    throw new SvcError('usage', 'must be the name of a host, without scheme and port');
  return value;
};

/** One of several comma-separated words kept in order, as `--fields` takes them. */
const words: ValueParser<string> = (value) => {
  if (value.split(',').some((word) => word.trim() === ''))
    throw new SvcError('usage', 'must be a comma-separated list');
  return value;
};

/** Comma-separated names, each once. */
export const names: ValueParser<readonly string[]> = (value) => [...new Set(words(value.trim()).split(/\s*,\s*/))];

export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new SvcError('usage', 'must be a duration such as 90s, 15m, 1h30m, 7d or 2w');
  return ms;
}

/** A duration longer than nothing. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new SvcError('usage', 'must be greater than zero');
  return ms;
}

/** A point in time as typed; what it means can depend on now. Milliseconds since the epoch. */
export type Moment = (now: number) => number;

const DAY_MS = 86_400_000;
const TIME = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;
// Whose midnight, or whose 10:00, cannot be known.
const WITHOUT_OFFSET = /^(?:\d{4}-\d{2}-\d{2}[Tt ])?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/** Reads RFC 3339 with an offset, a date (its start, UTC), a duration ago (`2h`), `now`, or the start of `today` or `yesterday` in UTC. */
export function moment(text: string): Moment {
  if (text === 'now') return (now) => now;
  const daysAgo = ['today', 'yesterday'].indexOf(text);
  if (daysAgo !== -1) return (now) => (Math.floor(now / DAY_MS) - daysAgo) * DAY_MS;
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  if (WITHOUT_OFFSET.test(text)) {
    const forms = '2026-01-31T10:00:00Z (UTC) or 2026-01-31T10:00:00+02:00';
    throw new SvcError('usage', `must be a time with its date and offset: ${forms}`);
  }
  if (!isRealTime(text)) {
    const forms = '2026-01-31T09:00:00Z, 2026-01-31 (UTC), 2h (ago), now, today or yesterday';
    throw new SvcError('usage', `must be a time: ${forms}`);
  }
  const at = Date.parse(text.replace(' ', 'T'));
  return () => at;
}

// Date.parse turns 30 February into 2 March.
function isRealTime(text: string): boolean {
  const [, date = '', time = '00:00:00'] = TIME.exec(text) ?? [];
  const at = Date.parse(`${date}T${time}Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(`${date}T${time}`);
}

/** Reads a percentage such as `80%` or `80`, as a number of hundredths: 80. More than 100 % is one too. */
export function percent(text: string): number {
  const digits = /^(\d{1,4}(?:\.\d{1,3})?)%$/.exec(text)?.[1] ?? /^\d{1,4}$/.exec(text)?.[0];
  if (digits === undefined || Number(digits) === 0)
    throw new SvcError('usage', 'must be a percentage above zero, such as 80%');
  return Number(digits);
}

export interface NameValue {
  readonly name: string;
  readonly value: string;
}

/** Reads `name=value`; the value may be empty, and may hold further equals signs. */
export const nameValue: ValueParser<NameValue> = (typed) => {
  const at = typed.indexOf('=');
  if (at < 1) throw new SvcError('usage', 'must be a name, =, and a value');
  return { name: typed.slice(0, at), value: typed.slice(at + 1) };
};

export function resolvePath({ system }: { readonly system: Pick<System, 'cwd' | 'platform'> }, typed: string): string {
  refuseWindowsName(typed, system.platform);
  return path.resolve(system.cwd, typed);
}

/** Checks that a file can be written here. @throws SvcError `usage` when it exists, or is a pipe or device */
export async function requireFile(target: string, force: boolean): Promise<void> {
  if ((await inspectTarget(target, force)).kind === 'file') return;
  throw new SvcError('usage', `${target} is not a file`, { hint: 'Give a file, not a pipe or a device.' });
}

export const GLOBAL_PARAMETERS = {
  profile: from(
    'SVC_PROFILE',
    suggesting('profile', value('-p, --profile <name>', 'named settings: base URL, keys, defaults', text)),
  ),
  sandbox: conflicting(['profile'], flag('--sandbox', 'use the embedded sandbox: no account, no network')),
  baseUrl: from('SVC_BASE_URL', value('--base-url <url>', 'address of the service: https, or loopback', text)),
  output: from(
    'SVC_OUTPUT',
    choice(
      '-o, --output <format>',
      'output format; by default a table on a terminal, jsonl or json elsewhere',
      OUTPUT_FORMATS,
    ),
  ),
  fields: suggesting(
    'field',
    value(
      '--fields <a,b.c>',
      'choose and order the columns, in every format; + before a field that svc does not know',
      words,
    ),
  ),
  wide: flag('--wide', 'show every column in full, whatever the width of the terminal'),
  excelSafe: flag('--excel-safe', 'with -o csv or --split-into, quote text that a spreadsheet would run as a formula'),
  jq: value('--jq <expression>', 'filter output with a jq expression (per object; whole list with -o json)', text),
  time: from('SVC_TIME', choice('--time <how>', 'time format in tables', TIME_STYLES)),
  timeout: from(
    'SVC_TIMEOUT',
    value('--timeout <duration>', 'time limit for the whole command, including waits', positiveDuration),
  ),
  maxWait: value('--max-wait <duration>', 'longest pause to accept from a rate limit (default 90s)', positiveDuration),
  curl: flag('--curl', 'print the next request as a curl command instead of sending it; the key is a variable'),
  showUrls: flag('--show-urls', 'show upload and download addresses, which are secrets'),
  quiet: flag('-q, --quiet', 'print only errors on stderr'),
  debug: from('SVC_DEBUG', flag('--debug', 'trace requests on stderr, secrets removed')),
  color: from('NO_COLOR, FORCE_COLOR', choice('--color <when>', 'when to use color', ['auto', 'always', 'never'])),
  plain: from(
    'SVC_PLAIN',
    flag('--plain', 'for screen readers: words and numbers only, one value per line, nothing repainted'),
  ),
  noPager: from('SVC_PAGER, PAGER', flag('--no-pager', 'do not use a pager for long lists')),
  noInput: from('CI', flag('--no-input', 'never prompt; fail with the option that is missing')),
  yes: flag('-y, --yes', "skip confirmation prompts (except 'tenant delete')"),
} as const;

export type Globals = Input<typeof GLOBAL_PARAMETERS>;

/** Of commands that list by pages. */
export const PAGING_PARAMETERS = {
  limit: conflicting(['all'], value('-n, --limit <n>', 'stop after this many', integer(1))),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'resume from the cursor of an earlier run', text),
  pageSize: value('--page-size <n>', 'items per request, 1 to 100', integer(1, 100)),
} as const;

function from<T>(environment: string, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, environment };
}
