import type { SvcError } from '../../base/errors.ts';
import type { System } from '../../base/system.ts';
import { SANDBOX_PROFILE } from '../config/values.ts';
import type { Context } from './command.ts';
import type { Globals } from './global-parameters.ts';

const DAY_S = 86_400;

/** The option that would help against an error of the library, which knows of none. */
export function optionAdvice({ code, facts }: SvcError): string | undefined {
  const missing = facts?.['missing'] ?? (code === 'key_missing' ? 'key' : undefined);
  // The sandbox has no bucket, so it is no help against missing credentials of a store.
  if (missing === 'key' || missing === 'base_url') return 'To try svc without keys, add --sandbox.';
  if (code === 'bug') return 'Run the command again with --debug and include what it prints.';
  // In a body that is not JSON, a column is a number.
  if (code === 'refused_input' && typeof facts?.['column'] === 'string')
    return 'Leave --excel-safe out, or choose the columns with --fields.';
  if (code !== 'rate_limited') return undefined;
  const seconds = facts?.['retry_after_s'];
  if (typeof seconds !== 'number') return 'A longer pause can be allowed with --max-wait.';
  return seconds <= DAY_S ? `To allow the pause, add --max-wait ${seconds}s.` : undefined;
}

type HintHost = Pick<Context, 'notices' | 'globals' | 'system'>;

/** A note on what to do next, and below it the command, written out with the service that was named on this one. */
export function noteNext({ notices, globals, system }: HintHost, text: string, words: readonly string[]): void {
  notices.note(`${text}:`);
  notices.command(nextCommand(words, globals, system));
}

/** An error's message and its hint as sentences. A message from the service may end with a full stop already. */
export function withHint({ message, hint }: Pick<SvcError, 'message' | 'hint'>): string {
  return hint === undefined ? message : `${message.replace(/\.$/, '')}. ${hint}`;
}

/** A warning that work continues past an error of one of its parts, and below it every command that the error names. */
export function warnOf({ notices, globals, system }: HintHost, what: string, error: SvcError): void {
  notices.warn(`${what}: ${withHint(error)}`);
  for (const words of error.commands) notices.command(nextCommand(words, globals, system), 'quiet');
}

/** Commands that a sandbox has no use for: they are about stored keys. */
const ABOUT_KEYS: ReadonlySet<string | undefined> = new Set(['login', 'logout', 'whoami', 'doctor', 'profile']);
const ABOUT_NO_SERVICE: ReadonlySet<string | undefined> = new Set([
  'events',
  'reset',
  'sandbox',
  'help',
  'completion',
  'commands',
]);

type ShellHost = Pick<System, 'platform' | 'env'>;

/** A command to run next, ready to be pasted into a shell: with the service that was named on this command line. */
export function nextCommand(words: readonly string[], globals: ServiceNamed | undefined, system: ShellHost): string {
  const [group] = words;
  const isElsewhere =
    words.includes('--profile') ||
    ABOUT_NO_SERVICE.has(group) ||
    (ABOUT_KEYS.has(group) && (globals?.sandbox || globals?.profile === SANDBOX_PROFILE));
  const options = globals === undefined || isElsewhere ? [] : serviceOptions(globals);
  return written(['svc', ...options, ...words], system);
}

type Named = Pick<Globals, 'sandbox' | 'profile' | 'baseUrl' | 'output' | 'fields' | 'jq' | 'time'>;

/** A command line to paste into a shell: with the service and the form of data that were named on this one. */
export function typedCommand(words: readonly string[], globals: Named, system: ShellHost): string {
  const { output, fields, jq, time } = globals;
  const form = [
    ...option('--output', output),
    ...option('--fields', fields),
    ...option('--jq', jq),
    ...option('--time', time),
  ];
  return written(['svc', ...serviceOptions(globals), ...words, ...form], system);
}

type ServiceNamed = Pick<Globals, 'sandbox' | 'profile' | 'baseUrl'>;

function serviceOptions({ sandbox, profile, baseUrl }: ServiceNamed): string[] {
  return [...(sandbox ? ['--sandbox'] : []), ...option('--profile', profile), ...option('--base-url', baseUrl)];
}

/** An option with its value, where it was given; once for each of several values. */
export function option(name: string, value: string | readonly string[] | undefined): string[] {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  // A value that begins with a dash would be read as another option.
  return values.flatMap((one) => (one.startsWith('-') ? [`${name}=${one}`] : [name, one]));
}

function written(words: readonly string[], system: ShellHost): string {
  const shell = shellFor(system);
  // <file> stands for what the reader has to put in.
  return words.map((word) => (/^<\w+>$/.test(word) ? word : shell.word(word))).join(' ');
}

/** How the operator's shell wants words and variables written. */
export interface Shell {
  /** A word of a command, quoted where it must be. */
  readonly word: (text: string) => string;
  /** A word whose text is taken as it is. */
  readonly literal: (text: string) => string;
  /** A variable's value within double quotes. */
  readonly variable: (name: string) => string;
  readonly setVariable: (name: string, text: string) => string;
  /** At the end of a line that continues on the next one. */
  readonly continues: string;
}

const posix: Shell = {
  word: (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : posix.literal(text)),
  literal: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  variable: (name) => `$${name}`,
  setVariable: (name, text) => `export ${name}=${posix.word(text)}`,
  continues: '\\',
};

const powershell: Shell = {
  word: (text) => {
    // A comma makes a list, @ a splat, and an option with a dot or colon two words.
    if (/^(?:-[\w-]*|[\w./\\][\w./\\:=+-]*)$/.test(text)) return text;
    // Where it may, a word is quoted as cmd takes it too; there a backslash before the last quote would keep it open.
    return /["$`%“”„]/.test(text) ? powershell.literal(text) : `"${text.replace(/\\+$/, '$&$&')}"`;
  },
  // Curly quotes count as straight ones.
  literal: (text) => `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`,
  variable: (name) => `$env:${name}`,
  setVariable: (name, text) => `$env:${name} = ${powershell.literal(text)}`,
  continues: '`',
};

/** PowerShell on Windows, unless SHELL names a POSIX shell there, as Git Bash does. */
export function shellFor({ platform, env }: Pick<System, 'platform' | 'env'>): Shell {
  return platform === 'win32' && !env['SHELL'] ? powershell : posix;
}
