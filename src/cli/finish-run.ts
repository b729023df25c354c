import path from 'node:path';
import { SvcError } from '../errors.ts';
import { needsFile } from '../runs/advance.ts';
import { writeResults } from '../runs/collect.ts';
import { orGoOnWith } from '../runs/going-on.ts';
import type { Nudge } from '../runs/pause.ts';
import { type RunRecord, statusOf } from '../runs/record.ts';
import type { RunDirectory } from '../runs/run-directory.ts';
import { waitForRun } from '../runs/run-wait.ts';
import { inspectTarget } from '../transfer/target.ts';
import type { Context } from './context.ts';
import { showRun } from './run-progress.ts';

/** Where the results of a run are to go. */
export interface Destination {
  readonly out: string;
  readonly force: boolean;
}

/** Waits for a run whose parts are all uploaded, brings its results and writes them into one file. `nudge` shortens the wait. */
export async function finishRun(
  context: Context,
  run: RunDirectory,
  { out, force }: Destination,
  nudge?: Nudge,
): Promise<void> {
  const { record } = run;
  await checkDestination(record, { out, force });
  if (needsFile(record)) throw unfinishedError(record);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    const waiting = waitForRun(client, run, { onEvent: showRun(context), nudge });
    await orGoOnWith(`svc au wait ${record.id}`, record.id, waiting);
  }
  if (!(await isWritten(record, out))) await writeResults(run, out, force);
}

/** Looks at the place before anything is asked of the service. A result file that this run wrote is no obstacle. */
export async function checkDestination(
  record: RunRecord | undefined,
  { out, force }: Destination,
): Promise<void> {
  if (record?.results?.file !== path.resolve(out)) await inspectTarget(out, force);
}

async function isWritten({ results }: RunRecord, out: string): Promise<boolean> {
  if (results?.file !== path.resolve(out)) return false;
  return inspectTarget(out, false).then(
    () => false,
    () => true,
  );
}

function unfinishedError({ id, input }: RunRecord): SvcError {
  return new SvcError('changed', `run ${id} has parts that are not uploaded yet`, {
    hint: `Go on with 'svc au submit ${input.name}'.`,
    facts: { run: id },
  });
}
