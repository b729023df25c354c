import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { SvcError } from '../../base/errors.ts';
import { type ChildEnd, childEnd, forEachLine, startCommand } from '../../base/security/child-environment.ts';
import type { Environment } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { commandName, UNNAMED } from './command-name.ts';

const LIMIT_MS = 60_000;
const HOLD_MS = 700;
// Far longer than any key, so that the output of a wrong command is not read to its end.
const LONGEST_OUTPUT = 65_536;

/** The environment for running a key command, provided by the command that needs the key. */
export interface KeyCommandHost {
  /** Ends the command when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Gets each line that the command writes on stderr, within a second. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Receives a possible key as soon as it is printed, so that later lines can be redacted. */
  readonly onSecret?: ((text: string) => void) | undefined;
  /** Time limit in milliseconds; a minute by default, since a person may have to unlock something. */
  readonly limitMs?: number | undefined;
}

/**
 * Runs a shell command of the operator and returns the first line of its output. The command gets no other key in its
 * environment and an empty standard input; its output never appears in an error.
 * @throws SvcError `config` naming the command's first word and how it ended; the signal's reason when it aborts
 */
export async function keyFromCommand(
  command: string,
  kind: KeyType,
  { env, cwd, signal, ...host }: KeyCommandHost & { readonly env: Environment; readonly cwd: string },
): Promise<string> {
  signal?.throwIfAborted();
  // The command may be a key pasted by mistake, which the shell would repeat in its error.
  if (!/\s/.test(command.trim()) && commandName(command) === UNNAMED) host.onSecret?.(command.trim());
  const child = startCommand(command, { env, cwd });
  child.stdin.on('error', () => undefined).end();
  const failed = (how: string, hint = 'Run the command yourself to see what it needs.'): SvcError =>
    new SvcError('config', `${commandName(command)}, which should print the ${kind} key, ${how}`, { hint });
  let printed = '';
  const onText = (text: string): void => {
    printed = (printed + text).slice(0, LONGEST_OUTPUT);
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
 * Closes the output of a command that has ended, once its line came or the command failed. What the command started may
 * keep the output open, as the agent of a password store does.
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
    // A line may lack its end.
    const timer = setTimeout(() => printed() !== '' && close(), HOLD_MS);
    child.once('close', () => clearTimeout(timer));
  });
}

// A script with tracing writes the key to stderr before stdout, so its lines wait until the key is known and hidden.
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
