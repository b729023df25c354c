import { SvcError } from '../errors.ts';
import { failedRunError, lookOnce } from '../runs/advance.ts';
import { missResults } from '../runs/collect.ts';
import { type ResultsFile, statusOf } from '../runs/record.ts';
import type { RunDirectory } from '../runs/run-directory.ts';
import { wordsOf } from '../runs/run-wait.ts';
import { type Destination, writeResults } from '../runs/write-results.ts';
import type { Context } from './context.ts';
import { showRun } from './run-progress.ts';

/**
 * Brings what a run has of results and writes them into one file, without waiting.
 * @throws SvcError `pending` when a part is not done, `job_failed` when one failed
 */
export async function bringResults(
  context: Context,
  run: RunDirectory,
  destination: Destination,
): Promise<ResultsFile> {
  const { record } = run;
  await missResults(run);
  if (statusOf(record) !== 'completed')
    await lookOnce(await context.client(), run, { onEvent: showRun(context, record) });
  if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
  if (statusOf(record) !== 'completed') {
    throw new SvcError('pending', `run ${record.id} is not done: ${wordsOf(record)}`, {
      hint: `Wait for it with 'svc au wait ${run.name}'.`,
      facts: { run: record.id },
    });
  }
  return writeResults(run, destination);
}
