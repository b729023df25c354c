// Runs the shell command that prints a key, such as a password manager.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { SvcError } from '../../base/errors.ts';
import { type ChildEnd, childEnd, forEachLine, startCommand } from '../../base/security/child-process.ts';
import type { Environment } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { commandName, UNNAMED } from './command-name.ts';

const LIMIT_MS = 60_000;
/** How long output lines wait for the key, in milliseconds. */
const HOLD_MS = 700;
// Far longer than any key. The rest of a longer output, printed by a wrong command, is dropped.
const MAX_OUTPUT = 65_536;

/** The environment for running a key command, provided by the command that needs the key. */
export interface KeyCommandHost {
  /** Stops the command when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each line that the command writes on stderr, within a second. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Receives a possible key as soon as it is printed, so that later lines can be redacted. */
  readonly onSecret?: ((text: string) => void) | undefined;
  /** Time limit in milliseconds; a minute by default, since a person may have to unlock something. */
  readonly limitMs?: number | undefined;
}

/**
 * Runs the operator's shell command and returns the first line of its output. The command's environment contains no other
 * key, and its standard input is empty. Errors never contain its output.
 * @throws SvcError `config` with the command's first word and how the command ended; the signal's reason when aborted
 */
export async function keyFromCommand(
  command: string,
  kind: KeyType,
  { env, cwd, signal, ...host }: KeyCommandHost & { readonly env: Environment; readonly cwd: string },
): Promise<string> {
  signal?.throwIfAborted();
  // The shell repeats an unknown command in its error, and this one may be a key pasted by mistake.
  if (!/\s/.test(command.trim()) && commandName(command) === UNNAMED) host.onSecret?.(command.trim());
  const child = startCommand(command, { env, cwd });
  child.stdin.on('error', () => undefined).end();
  const failed = (how: string, hint = 'Run the command yourself to see what it needs.'): SvcError =>
    new SvcError('config', `${commandName(command)}, which should print the ${kind} key, ${how}`, { hint });
  let printed = '';
  const onText = (text: string): void => {
    printed = (printed + text).slice(0, MAX_OUTPUT);
    host.onSecret?.(firstLine(printed));
  };
  child.stdout.setEncoding('utf8').on('data', onText);
  closeOnceSufficient(child, () => printed);
  const late = held(host.onLine ?? (() => undefined));
  forEachLine(child.stderr, late.onLine);
  const problem = problemOf(await childEnd(child, { limitMs: host.limitMs ?? LIMIT_MS, signal }));
  late.flush();
  signal?.throwIfAborted();
  if (problem !== undefined) throw failed(problem);
  if (firstLine(printed) === '')
    throw failed('printed nothing', 'It should print the key as the first line of its output.');
  return firstLine(printed);
}

/**
 * Closes the output of a command that ended, once a line was printed or the command failed. A background process that the
 * command started, such as the agent of a password store, may keep the output open.
 */
function closeOnceSufficient(child: ChildProcessWithoutNullStreams, printed: () => string): void {
  const close = (): void => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  child.once('exit', (code) => {
    if (code !== 0) return close();
    const closeAfterLine = (): void => void (printed().includes('\n') && close());
    closeAfterLine();
    child.stdout.on('data', closeAfterLine);
    // The key may have no newline after it.
    const timer = setTimeout(() => printed() !== '' && close(), HOLD_MS);
    child.once('close', () => clearTimeout(timer));
  });
}

// A script with tracing writes the key to stderr before stdout, so stderr lines wait until the key can be redacted.
function held(onLine: (line: string) => void): { onLine: (line: string) => void; flush: () => void } {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const line of lines) onLine(line);
    lines = [];
  };
  return {
    onLine: (line) => {
      lines.push(line);
      timer ??= setTimeout(flush, HOLD_MS);
    },
    flush,
  };
}

function firstLine(text: string): string {
  return (text.split(/\r?\n/, 1)[0] ?? '').trim();
}

function problemOf({ code, signal, problem }: ChildEnd): string | undefined {
  if (problem !== undefined || code === 0) return problem;
  return code === undefined ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`;
}
