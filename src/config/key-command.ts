import type { ChildProcess } from 'node:child_process';
import { SvcError } from '../errors.ts';
import { forEachLine, startCommand } from '../security/child-environment.ts';
import type { Environment } from '../system.ts';
import type { KeyKind } from './config-file.ts';
import { commandName, type KeyCommandHost, UNNAMED } from './keys.ts';

const LIMIT_MS = 60_000;
const HOLD_MS = 700;
// Far longer than any key: a command that was named by mistake is not read whole.
const LONGEST_OUTPUT = 65_536;

/**
 * Runs a shell command of the operator's and gives the first line that it prints. Its environment holds no key of
 * ours, its standard input is empty; what it prints never shows, in no error either.
 * @throws SvcError `config` naming the command's first word and how it ended; the signal's reason when it aborts
 */
export async function keyFromCommand(
  command: string,
  kind: KeyKind,
  { env, cwd, signal, ...host }: KeyCommandHost & { readonly env: Environment; readonly cwd: string },
): Promise<string> {
  signal?.throwIfAborted();
  // It may be a key, pasted by mistake: the shell repeats it.
  if (isOneWord(command) && commandName(command) === UNNAMED) host.onSecret?.(command.trim());
  const child = startCommand(command, { env, cwd });
  child.stdin.on('error', () => undefined).end();
  const failed = (how: string, hint?: string): SvcError => failure(command, kind, how, hint);
  let printed = '';
  const onText = (text: string): void => {
    printed = (printed + text).slice(0, LONGEST_OUTPUT);
    host.onSecret?.(firstLine(printed));
  };
  child.stdout.setEncoding('utf8').on('data', onText);
  const late = held(host.onLine ?? (() => undefined));
  forEachLine(child.stderr, late.onLine);
  const problem = await endOf(child, host.limitMs ?? LIMIT_MS, signal);
  late.flush();
  signal?.throwIfAborted();
  if (problem !== undefined) throw failed(problem);
  if (firstLine(printed) === '')
    throw failed('printed nothing', 'It should print the key as the first line of its output.');
  return firstLine(printed);
}

// A script that traces its steps writes the key to stderr before it prints it, and only a known key can be hidden.
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

function isOneWord(command: string): boolean {
  return !/\s/.test(command.trim());
}

function firstLine(text: string): string {
  return (text.split(/\r?\n/, 1)[0] ?? '').trim();
}

/** Resolves when the command is over, to what was wrong with that. What it started may continue. */
async function endOf(
  child: ChildProcess,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let problem: string | undefined;
  const stop = (why: string): void => {
    problem ??= why;
    child.kill('SIGKILL');
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const timer = setTimeout(() => stop(`took longer than ${limitMs / 1000} s`), limitMs);
  const onAbort = (): void => stop('was interrupted');
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await new Promise<string | undefined>((resolve) => {
      child.on('error', () => resolve('could not be started'));
      child.on('close', (code, by) => resolve(problem ?? ending(code, by)));
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function ending(code: number | null, by: NodeJS.Signals | null): string | undefined {
  if (code === 0) return undefined;
  return code === null ? `was ended by ${by ?? 'a signal'}` : `ended with exit code ${code}`;
}

function failure(command: string, kind: KeyKind, how: string, hint?: string): SvcError {
  return new SvcError('config', `${commandName(command)}, which should print the ${kind} key, ${how}`, {
    hint: hint ?? 'Run the command yourself to see what it needs.',
  });
}
