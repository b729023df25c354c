// Suggests commands: notes with the next command to type, quoted for the operator's shell.

import type { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { programName, type System } from '../../base/system.ts';
import { readAddress } from '../../schema/address.ts';
import { baseUrlProblem, profileNameProblem, SANDBOX_PROFILE } from '../config/values.ts';
import type { Context } from './command.ts';
import type { Globals } from './global-parameters.ts';
import { shellFor } from './shell.ts';

type HintHost = Pick<Context, 'notices' | 'globals' | 'system'>;

/** Notes the next step and its command, with the options that name the same service as this command line. */
export function noteNext({ notices, globals, system }: HintHost, text: string, words: readonly string[]): void {
  notices.note(`${text}:`);
  notices.command(nextCommand(words, globals, system));
}

/** Joins an error's message and hint as sentences. A message from the service may already end with a full stop. */
export function withHint({ message, hint }: Pick<SvcError, 'message' | 'hint'>): string {
  return hint === undefined ? message : `${message.replace(/\.$/, '')}. ${hint}`;
}

/** Warns of an error that does not stop the work, and lists every command that the error names. */
export function warnOf({ notices, globals, system }: HintHost, what: string, error: SvcError): void {
  notices.warn(`${what}: ${withHint(error)}`);
  for (const words of error.commands) notices.command(nextCommand(words, globals, system), 'quiet');
}

/** Commands about stored keys, which a sandbox does not need. */
const ABOUT_KEYS: ReadonlySet<string | undefined> = new Set(['login', 'logout', 'whoami', 'doctor', 'profile']);
const ABOUT_NO_SERVICE: ReadonlySet<string | undefined> = new Set([
  'events',
  'reset',
  'sandbox',
  'help',
  'completion',
  'commands',
  'explain',
]);

type ShellHost = Pick<System, 'platform' | 'env' | 'program'>;

/** Returns the command to run next, quoted for the shell, for the same service as this command line. */
export function nextCommand(words: readonly string[], globals: ServiceNamed | undefined, system: ShellHost): string {
  return shellWords(nextWords(words, globals, system), system);
}

/** Returns the command to run next as words, for the same service as this command line. */
export function nextWords(
  words: readonly string[],
  globals: ServiceNamed | undefined,
  system: Pick<System, 'program'>,
): readonly string[] {
  const [group] = words;
  const namesService =
    words.includes('--profile') ||
    words.includes('--sandbox') ||
    ABOUT_NO_SERVICE.has(group) ||
    (ABOUT_KEYS.has(group) && (globals?.sandbox || globals?.profile === SANDBOX_PROFILE));
  const shown = withPlaceholders(words);
  if (globals === undefined || namesService) return [programName(system), ...shown];
  const named = words.includes('--base-url') ? { ...globals, baseUrl: undefined } : globals;
  return [programName(system), ...serviceOptions(named), ...shown];
}

type RepeatedGlobals = Pick<Globals, 'sandbox' | 'profile' | 'baseUrl' | 'output' | 'fields' | 'jq' | 'time'>;

/** Returns a command quoted for the shell, for the same service and with the same output format as this command line. */
export function typedCommand(words: readonly string[], globals: RepeatedGlobals, system: ShellHost): string {
  const { output, fields, jq, time } = globals;
  const format = [
    ...option('--output', output),
    ...option('--fields', fields),
    ...option('--jq', jq),
    ...option('--time', time),
  ];
  return shellWords([programName(system), ...serviceOptions(globals), ...words, ...format], system);
}

/** The options of a command line that name the service. */
export type ServiceNamed = Pick<Globals, 'sandbox' | 'profile' | 'baseUrl'>;

/** Returns the options that name a service. */
function serviceOptions({ sandbox, profile, baseUrl }: ServiceNamed): string[] {
  return [
    ...(sandbox ? ['--sandbox'] : []),
    ...option('--profile', profile === undefined ? undefined : profileShown(profile)),
    ...option('--base-url', baseUrl === undefined ? undefined : addressShown(baseUrl)),
  ];
}

// An invalid name or address may be a key pasted into the wrong place, so a placeholder replaces the value. The option
// itself stays: without it, the command would go to another service.
function profileShown(profile: string): string {
  return profile === SANDBOX_PROFILE || profileNameProblem(profile) === undefined ? profile : '<name>';
}

function addressShown(baseUrl: string): string {
  return baseUrlProblem(readAddress(baseUrl)) === undefined ? baseUrl : '<url>';
}

/** Returns an option with its value, repeated for several values; nothing for an option that was not given. */
export function option(name: string, value: string | readonly string[] | undefined): string[] {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  // A value that begins with a dash would be read as another option, unless it is the dash of standard input.
  return values.flatMap((one) => (/^-./.test(one) ? [`${name}=${one}`] : [name, one]));
}

/** Joins words into a command line, quoted for the operator's shell. */
export function shellWords(words: readonly string[], system: ShellHost): string {
  const shell = shellFor(system);
  // A placeholder such as <file> stays unquoted: the reader replaces it.
  return withPlaceholders(words)
    .map((word) => (/^(?:--[\w-]+=)?<[\w.,=-]+>(?:=<\w+>)?$/.test(word) ? word : shell.word(word)))
    .join(' ');
}

/** Puts placeholders in place of words with card numbers: these would be shown masked, and a command with them would fail. */
function withPlaceholders(words: readonly string[]): readonly string[] {
  return words.map((word, at) => {
    if (!containsCardNumber(word)) return word;
    const [, own] = /^--([\w-]+)=/.exec(word) ?? [];
    if (own !== undefined) return `--${own}=<${own}>`;
    return `<${/^--([\w-]+)$/.exec(words[at - 1] ?? '')?.[1] ?? 'file'}>`;
  });
}
