import { needsFile } from '../runs/advance.ts';
import { invalidateResults } from '../runs/collect.ts';
import { orGoOnWith } from '../runs/going-on.ts';
import type { Nudge } from '../runs/pause.ts';
import { statusOf } from '../runs/record.ts';
import type { RunDirectory } from '../runs/run-directory.ts';
import { unfinishedError, waitForRun } from '../runs/run-wait.ts';
import type { Destination } from '../runs/write-results.ts';
import type { Context } from './context.ts';
import { deliverResults, requireDestination } from './deliver-results.ts';
import { showRun } from './run-progress.ts';
import { warnOfUnrequested } from './unrequested.ts';

/** Waits for a run whose parts are all uploaded, brings its results and writes them into one file. `nudge` shortens the wait. */
export async function finishRun(
  context: Context,
  run: RunDirectory,
  destination: Destination,
  nudge?: Nudge,
): Promise<void> {
  const { record } = run;
  await requireDestination(context, destination, run);
  if (needsFile(record)) throw unfinishedError(run);
  await invalidateResults(run);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    const waiting = waitForRun(client, run, { onEvent: showRun(context, record), nudge });
    await orGoOnWith(`svc au wait ${run.name}`, record.id, waiting);
  }
  await deliverResults(context, run, destination);
  await warnOfUnrequested(context, record);
}
