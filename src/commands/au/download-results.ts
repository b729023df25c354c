import { settleUploads } from '../../account-updater/abandon.ts';
import { failedRunError, pollOnce } from '../../account-updater/advance.ts';
import { acceptUnproven, invalidateResults, refetchResults } from '../../account-updater/collect.ts';
import type { Destination } from '../../account-updater/merge.ts';
import { hasUnknown, unknownError } from '../../account-updater/poll-parts.ts';
import { type ResultsFile, type RunRecord, statusOf } from '../../account-updater/record.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import { wordsOf } from '../../account-updater/run-wait.ts';
import type { Context } from '../../app/command.ts';
import { SvcError } from '../../errors.ts';
import { deliverResults } from './deliver-results.ts';
import { showRun } from './progress.ts';
import { warnOfUnrequested } from './run-summary.ts';

/** How the results of a run are taken. */
export interface TakeOptions extends Destination {
  /** Takes results that were kept although they are not proven whole. */
  readonly acceptUnproven: boolean;
}

/**
 * Downloads what a run has of results and writes them into one file, without waiting. Of an abandoned run those of the
 * parts that have any. With `force` everything comes from the service once more.
 * @throws SvcError `pending` when a part is not done, `job_failed` when one failed
 */
export async function downloadResults(
  context: Context,
  run: RunDirectory,
  options: TakeOptions,
): Promise<ResultsFile> {
  const { record } = run;
  await invalidateResults(run);
  if (options.acceptUnproven) await acceptUnproven(run);
  else if (options.force) refetchResults(run);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    if (statusOf(record) === 'abandoned') await settleUploads(client, run);
    await pollOnce(client, run, { onEvent: showRun(context, record) });
  }
  if (statusOf(record) === 'abandoned') reportSkipped(context, run);
  else if (hasUnknown(record)) throw unknownError(run);
  else if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
  else if (statusOf(record) !== 'completed') throw pendingError(run);
  const results = await deliverResults(context, run, options);
  await warnOfUnrequested(context, record);
  return results;
}

/** The parts of an abandoned run that never got to the service, or failed there, have no results to come. */
function reportSkipped({ notices }: Context, run: RunDirectory): void {
  const { id, parts } = run.record;
  if (parts.some(({ state }) => state === 'uploaded' || state === 'completed' || state === 'uploading'))
    throw pendingError(run);
  const left = parts.filter(({ state }) => state !== 'downloaded');
  if (left.length === parts.length) throw nothingError(run.record);
  const rows = left.map(({ first_row, rows: count }) => `${first_row} to ${first_row + count - 1}`);
  notices.warn(`run ${id} was abandoned: the results are without those of rows ${rows.join(', ')}`);
}

function nothingError({ id }: RunRecord): SvcError {
  return new SvcError('not_found', `run ${id} was abandoned before any part of it came to results`, {
    hint: 'There is nothing to download.',
    facts: { run: id },
  });
}

function pendingError({ record, name }: RunDirectory): SvcError {
  const { id } = record;
  return new SvcError('pending', `run ${id} is not done: ${wordsOf(record)}`, {
    hint:
      statusOf(record) === 'abandoned'
        ? `Try again later with 'svc au download ${name}'.`
        : `Wait for it with 'svc au wait ${name}'.`,
    facts: { run: id },
  });
}
