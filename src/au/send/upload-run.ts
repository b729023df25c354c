import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { confirmCost, requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { RowsTaken } from '../ledger/claim-rows.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { shareResults } from '../results/share-results.ts';
import type { Part } from '../run/part.ts';
import { requestToUpload } from '../run/part-source.ts';
import { Polled, workOn } from '../run/poll-parts.ts';
import { hasUnknown, needsFile, rowsIn } from '../run/record.ts';
import { repairCopy } from '../run/request-copy.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { everyRecord } from '../run/run-view.ts';
import { requireOwnTenant } from '../run/tenant-proof.ts';
import { verdictOf } from '../run/verdict.ts';
import { divideParts, mayHaveEnded, pollJoinedDoubts, settleJoined } from './divide-parts.ts';
import { resultsReader } from './read-results.ts';
import { giveUpReusedJobs } from './reused-jobs.ts';
import { showRun } from './show-progress.ts';
import { creatorMemory, SpareJob } from './spare-job.ts';
import type { SendOptions } from './strangers.ts';
import { retryFailed, uploadParts } from './upload-parts.ts';

interface UploadChoice extends SendOptions {
  /** Whether failed parts get another job, as the operator decided. */
  readonly retriesFailed?: boolean | undefined;
  /** Whether to poll an upload in doubt only once, without waiting for its end. */
  readonly pollOnce?: boolean | undefined;
  /** The ledger and the spare job of the command, if it used them before. */
  readonly ledger?: CommandLedger | undefined;
  readonly spare?: SpareJob | undefined;
}

/** How often rows are divided again because other processes got some of them meanwhile. */
const MOST_DIVISIONS = 8;

/** How often a job is replaced that was removed before its file was uploaded. */
const MOST_JOBS = 3;

/** Returns the parts that must be uploaded, whose upload is in doubt, or whose rows another run may have lost. */
export function partsToUpload(
  parts: readonly Part[],
  { retriesFailed = false }: Pick<UploadChoice, 'retriesFailed'> = {},
): Part[] {
  return parts.filter(
    (part) =>
      needsFile({ parts: [part] }) ||
      hasUnknown({ parts: [part] }) ||
      (retriesFailed && part.state === 'failed') ||
      mayHaveEnded(part),
  );
}

interface EarlierOptions {
  readonly wantsResults?: boolean | undefined;
  readonly again?: readonly string[] | undefined;
}

/**
 * Returns a function that polls once the jobs that were under way before this command uploaded anything, so that
 * "pending" never stands on the record. Unless results are wanted, the service may have forgotten a job whose results
 * somebody read. `again` is the command that waits for them.
 */
export function pollEarlierJobs(
  context: Context,
  run: RunDirectory,
  { wantsResults = false, again }: EarlierOptions = {},
): () => Promise<Polled> {
  const earlier = run.record.parts.filter(({ state }) => state === 'uploaded' || state === 'completed');
  return async () => {
    const client = await context.client();
    const joined = run.record.parts.filter((part) => part.joined !== undefined && part.state === 'uploaded');
    const polled = await Polled.once(workOn(client, run, { onEvent: showRun(context, run.record) }), [
      ...new Set([
        ...earlier.filter((part) => run.record.parts.includes(part) && part.state !== 'downloaded'),
        ...joined,
      ]),
    ]);
    const reason = verdictOf(run, { polled }, { isSent: !wantsResults, again });
    // Only a job that waits for the file of another machine is not submitted yet.
    const isWaiting = polled.underWay.some((part) => part.joined !== undefined && part.seen === 'pending');
    // The caller shows the run before it fails for a job that failed.
    if (reason !== undefined && (isWaiting || !isSvcError(reason, 'pending', 'job_failed'))) throw reason;
    return polled;
  };
}

/**
 * Checks that the jobs of other runs have their files, before a wait: a machine that died while it sent one is noticed only
 * after its job's address has ended.
 * @throws SvcError `pending` for a job that waits for its file, `outcome_unknown` for one that is not found
 */
export async function requireJoinedFiles(
  context: Context,
  run: RunDirectory,
  again?: readonly string[],
): Promise<void> {
  if (run.record.parts.some((part) => part.joined !== undefined && part.state === 'uploaded'))
    await pollEarlierJobs(context, run, { wantsResults: true, again })();
}

/**
 * Asks for confirmation before billable rows are sent, and before only some rows of a file are sent, whatever the tenant.
 * `of` is the number of all rows if others have been sent, and `look` what is strange of the rows.
 * @throws SvcError `declined`
 */
export async function confirmRows(
  context: Context,
  rows: number,
  jobs: number,
  { of = rows, look }: { readonly of?: number; readonly look?: string | undefined } = {},
): Promise<void> {
  const strange = look === undefined ? '' : ` (${look})`;
  const what = of === rows ? countText(rows, 'row') : `only ${formatNumber(rows)} of ${countText(of, 'row')}`;
  const choice = { unchanged: 'nothing was submitted', isUnexpected: of !== rows };
  await confirmCost(context, `submit ${what} in ${countText(jobs, 'job')}${strange}`, choice);
}

/**
 * Uploads the remaining parts of a run from the copy of its request file. Rows that other jobs have are not sent: the run
 * waits for those jobs. The caller must have locked the run.
 * @throws SvcError `outcome_unknown` if the service may have the file of a part without having confirmed it
 */
export async function uploadRun(context: Context, run: RunDirectory, choice: UploadChoice = {}): Promise<void> {
  try {
    await uploadRest(context, run, choice);
  } catch (error) {
    throw withSentRows(error, run);
  }
}

/** Returns an error that says of one part that nothing was sent, with what was sent of the others. */
function withSentRows(error: unknown, { record: { parts }, name }: RunDirectory): unknown {
  const sent = parts.filter(
    (part) => part.joined === undefined && part.state !== 'failed' && !needsFile({ parts: [part] }),
  );
  if (!isSvcError(error) || sent.length === 0 || !error.message.includes(NOTHING)) return error;
  const rows = `${formatNumber(rowsIn(sent))} of ${countText(rowsIn(parts), 'row')}`;
  return error.with({
    message: error.message.replace(NOTHING, `no more rows were sent: ${rows} were sent before`),
    next: error.next ?? ['au', 'status', name],
  });
}

const NOTHING = 'nothing was sent';

async function uploadRest(context: Context, run: RunDirectory, choice: UploadChoice): Promise<void> {
  const { record } = run;
  const { ledger = new CommandLedger(context) } = choice;
  await shareResults(run);
  await giveUpReusedJobs(context, run, ledger);
  if (partsToUpload(record.parts, choice).length === 0) return;
  const client = await context.client();
  if (record.tenant_id !== undefined) await requireOwnTenant({ client, record });
  requireKnownTenant(context, record.tenant_id, 'nothing was uploaded');
  const { spare = new SpareJob(client, creatorMemory(context, client)) } = choice;
  await settleJoined(client, run, { ledger, spare, retriesFailed: choice.retriesFailed });
  if (partsToUpload(record.parts, choice).length === 0) return;
  await repairCopy(context, run);
  const file = await requestToUpload(context, run);
  if (choice.retriesFailed) await retryFailed(client, run);
  const onEvent = showRun(context, record);
  let expired = 0;
  for (let division = 1; ; division += 1) {
    await divideParts(context, client, run, { ledger, spare, file, typed: choice });
    await shareResults(run);
    await pollJoinedDoubts(client, run);
    const read = resultsReader(context, client, ledger);
    const how = { onEvent, pollOnce: choice.pollOnce, others: await everyRecord(context), ledger, spare, read };
    try {
      return await uploadParts(client, run, file, { ...how, typed: choice });
    } catch (error) {
      if (!(error instanceof RowsTaken) || division === MOST_DIVISIONS) throw error;
      if (error.code === 'job_expired') expired += 1;
      if (expired === MOST_JOBS) throw error;
    }
  }
}
