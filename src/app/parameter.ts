import { OUTPUT_FORMATS, TIME_STYLES } from '../config/choices.ts';
import { positiveDuration, text, type ValueParser, words } from './values.ts';

/** One option or argument of a command, as data: the parser, help and completion are made from it. */
export interface Parameter<T> {
  readonly kind: 'argument' | 'flag' | 'value' | 'repeated';
  /** `--entity-type <type>` for an option, `<file>` or `[job]` for an argument. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[] | undefined;
  readonly default?: T | undefined;
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

/** An argument that must be given. */
export function argument(syntax: `<${string}>`, description: string, parse = asTyped): Parameter<string> {
  return { kind: 'argument', syntax, description, parse };
}

/** An argument that may be left out. */
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

/** A switch: true when given. */
export function flag(syntax: string, description: string): Parameter<boolean> {
  return { kind: 'flag', syntax, description, default: false, parse: () => true };
}

/** An option with a value that may be left out. */
export function value<T>(
  syntax: string,
  description: string,
  parse: ValueParser<T>,
): Parameter<T | undefined> {
  return { kind: 'value', syntax, description, parse };
}

/** An option with a value of a known few. */
export function choice<const C extends string>(
  syntax: string,
  description: string,
  choices: readonly C[],
): Parameter<C | undefined> {
  return { kind: 'value', syntax, description, choices, parse: asTyped };
}

/** An option that may be given several times. */
export function repeated<T>(
  syntax: string,
  description: string,
  parse: ValueParser<T>,
): Parameter<readonly T[]> {
  return { kind: 'repeated', syntax, description, default: [], parse };
}

/** The option's words: `['-p', '--profile']`. */
export function optionWords(parameter: Parameter<unknown>): string[] {
  // Not those of the value's name: `<json|->` holds a dash too.
  const words = parameter.syntax.replace(/ [<[].*$/, '').split(/[ ,]+/);
  return words.filter((word) => word.startsWith('-'));
}

/** The parameter with values for completion to offer. */
export function suggesting<T>(suggest: Suggest, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, suggest };
}

/** Whether the option takes a value. */
export function takesValue(parameter: Parameter<unknown>): boolean {
  return parameter.kind === 'value' || parameter.kind === 'repeated';
}

/** Options that every command takes, before or after its own. */
export const GLOBAL_PARAMETERS = {
  profile: from(
    'SVC_PROFILE',
    suggesting('profile', value('-p, --profile <name>', 'named settings: base URL, keys, defaults', text)),
  ),
  sandbox: flag('--sandbox', 'use the embedded sandbox: no account, no network'),
  baseUrl: from(
    'SVC_BASE_URL',
    value('--base-url <url>', 'address of the service; https, or loopback', text),
  ),
  output: from(
    'SVC_OUTPUT',
    choice(
      '-o, --output <format>',
      'how data is written; by default a table on a terminal, jsonl or json elsewhere',
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
  wide: flag('--wide', 'show every column of a table in full, however wide the terminal is'),
  excelSafe: flag(
    '--excel-safe',
    'with -o csv or --split-into, put a quote before text that a spreadsheet would run as a formula',
  ),
  jq: value('--jq <expression>', 'what jq makes of each object; with -o json, of the whole list', text),
  time: from('SVC_TIME', choice('--time <how>', 'how a table shows times', TIME_STYLES)),
  timeout: from(
    'SVC_TIMEOUT',
    value('--timeout <duration>', 'bound on the whole command, waits included', positiveDuration),
  ),
  maxWait: value(
    '--max-wait <duration>',
    'longest single pause that a rate limit may ask for (default 90s)',
    positiveDuration,
  ),
  curl: flag(
    '--curl',
    'print the next request as a curl command, the key as a variable, in place of sending it',
  ),
  showUrls: flag('--show-urls', 'show upload and download addresses, which are secrets'),
  quiet: flag('-q, --quiet', 'only errors on stderr'),
  debug: from('SVC_DEBUG', flag('--debug', 'trace requests on stderr, secrets removed')),
  color: from('NO_COLOR, FORCE_COLOR', choice('--color <when>', 'colour', ['auto', 'always', 'never'])),
  plain: from(
    'SVC_PLAIN',
    flag('--plain', 'for screen readers: words and numbers only, one value a line, nothing repainted'),
  ),
  noPager: from('SVC_PAGER, PAGER', flag('--no-pager', 'do not show long lists through a pager')),
  noInput: from('CI', flag('--no-input', 'never ask: fail at once, naming the option to give instead')),
  yes: flag('-y, --yes', 'answer yes to ordinary confirmations'),
} as const;

/** The global options of one command line. */
export type Globals = Input<typeof GLOBAL_PARAMETERS>;

function from<T>(environment: string, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, environment };
}
