import { SvcError } from '../errors.ts';
import { failedRunError, lookOnce } from '../runs/advance.ts';
import { writeResults } from '../runs/collect.ts';
import type { Merged } from '../runs/merge.ts';
import { statusOf } from '../runs/record.ts';
import type { RunDirectory } from '../runs/run-directory.ts';
import { wordsOf } from '../runs/run-wait.ts';
import type { Context } from './context.ts';
import type { Destination } from './finish-run.ts';
import { showRun } from './run-progress.ts';

/**
 * Brings what a run has of results and writes them into one file, without waiting.
 * @throws SvcError `pending` when a part is not done, `job_failed` when one failed
 */
export async function bringResults(
  context: Context,
  run: RunDirectory,
  { out, force }: Destination,
): Promise<Merged> {
  const { record } = run;
  if (statusOf(record) !== 'completed')
    await lookOnce(await context.client(), run, { onEvent: showRun(context) });
  if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
  if (statusOf(record) !== 'completed') {
    throw new SvcError('pending', `run ${record.id} is not done: ${wordsOf(record)}`, {
      hint: `Wait for it with 'svc au wait ${record.id}'.`,
      facts: { run: record.id },
    });
  }
  return writeResults(run, out, force);
}
