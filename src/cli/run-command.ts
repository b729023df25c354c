import { createInterface } from 'node:readline';
import { SvcError } from '../errors.ts';
import type { RunRecord } from '../runs/record.ts';
import { startCommand } from '../security/child-environment.ts';
import type { Context } from './context.ts';

/**
 * Runs the operator's own command for a run that is complete: its record on standard input, its names beside. What the
 * command writes goes to stderr, since stdout is for the data of this one.
 * @throws SvcError `local` when it did not go well
 */
export async function runForRun(
  { system, signal, notices }: Context,
  command: string,
  record: RunRecord,
): Promise<void> {
  const added = { SVC_RUN_ID: record.id, SVC_RESULTS: record.results?.file ?? '' };
  const child = startCommand(command, { env: system.env, cwd: system.cwd, added, signal });
  // A command need not read its input.
  child.stdin.on('error', () => undefined).end(`${JSON.stringify(record)}\n`);
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => notices.note(line));
  const ending = await new Promise<string | undefined>((resolve) => {
    child.on('error', () => resolve('could not be started'));
    child.on('close', (code, by) =>
      resolve(code === 0 ? undefined : `ended with ${code ?? by ?? 'a signal'}`),
    );
  });
  signal.throwIfAborted();
  if (ending === undefined) return;
  throw new SvcError('local', `the command of --exec ${ending}`, {
    hint: 'The results are written. Mend the command: the next round runs it again for this run.',
  });
}
