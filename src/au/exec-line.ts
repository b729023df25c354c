import type { Context } from '../cli/app/command.ts';

/**
 * Runs the command of `--exec`, with a value as JSON on its standard input and with added environment variables. Its
 * output goes to stderr. Returns the message of the error if the command fails.
 */
export async function runExecLine(
  { system, signal, notices }: Context,
  command: string,
  input: object,
  added: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const { runLine } = await import('../base/security/child-environment.ts');
  const ended = await runLine(command, `${JSON.stringify(input)}\n`, {
    env: system.env,
    cwd: system.cwd,
    added,
    onLine: (line) => notices.note(line),
    signal,
  });
  signal.throwIfAborted();
  const { code, problem } = ended;
  if (code === 0 && problem === undefined) return undefined;
  return `the command of --exec ${problem ?? `ended with ${code ?? ended.signal ?? 'a signal'}`}`;
}
