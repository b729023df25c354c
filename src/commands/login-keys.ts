import type { Context } from '../cli/context.ts';
import { commandName } from '../config/command-name.ts';
import { KEY_KINDS, type KeyKind } from '../config/document.ts';
import { keyFromCommand } from '../config/key-command.ts';
import { storedAs } from '../config/keys.ts';
import { checkKey } from '../config/key-text.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { readInput } from '../terminal/stdin.ts';
import { isAboutKey } from '../cli/check-key.ts';
import type { Place } from './login.ts';
import { checkedKey, type GivenKey } from './login-check.ts';

/** How often a question is asked again after an answer that will not do. */
const TRIES = 3;

/** What the options of `svc login` say about keys. */
export interface KeyOptions {
  readonly managementKeyStdin: boolean;
  readonly privateKeyStdin: boolean;
  readonly managementKeyCommand: string | undefined;
  readonly privateKeyCommand: string | undefined;
  readonly noCheck: boolean;
}

/** The keys that options give: from standard input, a line each, or from commands, which are run unless unchecked. */
export async function givenKeys(context: Context, options: KeyOptions): Promise<GivenKey[]> {
  const commands = { management: options.managementKeyCommand, private: options.privateKeyCommand };
  const stdin = { management: options.managementKeyStdin, private: options.privateKeyStdin };
  const twice = KEY_KINDS.find((kind) => stdin[kind] && commands[kind] !== undefined);
  if (twice)
    throw new SvcError('usage', `--${twice}-key-stdin and --${twice}-key-command exclude each other`);
  const piped = await pipedKeys(
    context,
    KEY_KINDS.filter((kind) => stdin[kind]),
  );
  const printed: GivenKey[] = [];
  for (const kind of KEY_KINDS) {
    const command = commands[kind];
    if (command === undefined) continue;
    const value = options.noCheck ? '' : await fromCommand(context, command, kind);
    printed.push({ kind, command, value, from: commandName(command) });
  }
  return [...piped, ...printed];
}

/** Asks for a key until the service takes it, three times at most; undefined when it is left out. */
export async function askForKey(
  context: Context,
  kind: KeyKind,
  place: Place,
): Promise<GivenKey | undefined> {
  const use = kind === 'management' ? 'logs, tenant' : '3DS, Account Updater';
  const keeps = storedAs(context.settings.stored?.keys?.[kind]) !== undefined;
  const question = `${kind} key (${use}; empty to ${keeps ? 'keep it' : 'skip'}):`;
  const instead = `Pass --${kind}-key-stdin, or --${kind}-key-command.`;
  for (let tries = 1; ; tries += 1) {
    const typed = (await context.prompts.promptHidden(question, instead)).trim();
    if (typed === '') return undefined;
    try {
      const key = { kind, value: checkKey(typed, 'the answer'), from: 'your answer' };
      context.addSecret(key.value);
      await checkedKey(context, key, place);
      return key;
    } catch (error) {
      if (!isSvcError(error, 'config') && !isAboutKey(error)) throw error;
      if (tries >= TRIES) throw error;
      context.notices.warn(wordsOf(error));
    }
  }
}

/** Asks for a line of text until `read` takes it, three times at most. */
export async function askedText<T>(
  { prompts, notices }: Context,
  question: string,
  instead: string,
  read: (typed: string) => T,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const typed = await prompts.promptText(question, instead);
    try {
      return read(typed);
    } catch (error) {
      if (!isSvcError(error) || tries >= TRIES) throw error;
      notices.warn(wordsOf(error));
    }
  }
}

function wordsOf({ message, hint = '' }: SvcError): string {
  return `${message.replace(/\.$/, '')}. ${hint}`.trimEnd();
}

async function pipedKeys(context: Context, kinds: readonly KeyKind[]): Promise<GivenKey[]> {
  if (kinds.length === 0) return [];
  const { stdin } = context.system;
  if (stdin.isTTY === true)
    throw new SvcError('input_needed', 'standard input is a terminal: a key typed there would show', {
      hint: "Pipe the key in, or leave the option out: 'svc login' asks without showing it.",
    });
  const lines = (await readInput(stdin, 10_000)).split('\n').filter((line) => line.trim() !== '');
  if (lines.length !== kinds.length) {
    throw new SvcError(
      'usage',
      `standard input should hold ${kinds.length} line(s), a key each, and holds ${lines.length}`,
    );
  }
  return kinds.map((kind, index) => {
    const key = checkKey((lines[index] ?? '').trim(), 'standard input');
    context.addSecret(key);
    return { kind, value: key, from: 'standard input' };
  });
}

async function fromCommand(context: Context, command: string, kind: KeyKind): Promise<string> {
  const { env, cwd } = context.system;
  const printed = await keyFromCommand(command, kind, {
    env,
    cwd,
    signal: context.signal,
    onLine: (line) => context.notices.note(line),
    onSecret: (secret) => context.addSecret(secret),
  });
  return checkKey(printed, 'the command');
}
