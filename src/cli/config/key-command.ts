import { SvcError } from '../../base/errors.ts';
import { type ChildEnd, childEnd, forEachLine, startCommand } from '../../base/security/child-environment.ts';
import type { Environment } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { commandName, type KeyCommandHost, UNNAMED } from './keys.ts';

const LIMIT_MS = 60_000;
const HOLD_MS = 700;
// Far longer than any key: a command that was named by mistake is not read whole.
const LONGEST_OUTPUT = 65_536;

/**
 * Runs a shell command of the operator's and gives the first line that it prints. Its environment contains no key of
 * ours, its standard input is empty; what it prints never shows, in no error either.
 * @throws SvcError `config` naming the command's first word and how it ended; the signal's reason when it aborts
 */
export async function keyFromCommand(
  command: string,
  kind: KeyType,
  { env, cwd, signal, ...host }: KeyCommandHost & { readonly env: Environment; readonly cwd: string },
): Promise<string> {
  signal?.throwIfAborted();
  // It may be a key, pasted by mistake: the shell repeats it.
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

function firstLine(text: string): string {
  return (text.split(/\r?\n/, 1)[0] ?? '').trim();
}

function problemOf({ code, signal, problem }: ChildEnd): string | undefined {
  if (problem !== undefined || code === 0) return problem;
  return code === undefined ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`;
}
