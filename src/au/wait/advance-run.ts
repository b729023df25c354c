import { isSvcError, type SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { actionsOf } from '../results/action-option.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { invalidateResults } from '../results/download.ts';
import type { Threshold } from '../results/fail-on.ts';
import { checkThreshold, countedResults } from '../results/submission.ts';
import { trendOf } from '../results/trend.ts';
import { isForgottenRun, isOpen, statusOf } from '../run/record.ts';
import { forgottenRunError } from '../run/run-errors.ts';
import { repairCopy } from '../run/request-copy.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { resumable, verdictOf } from '../run/verdict.ts';
import { showRun } from '../send/show-progress.ts';
import { uploadRun } from '../send/upload-run.ts';
import { deliverAsRecorded, firstWarning, noteUncompared } from './deliver.ts';
import { deliverFixFile } from './fix-file.ts';
import { pollRun } from './poll-run.ts';
import { waitForRun } from './wait.ts';

interface Advance {
  readonly failOn?: Threshold | undefined;
  /** The command that continues an interrupted wait. Default: the one for the run. */
  readonly again?: readonly string[] | undefined;
  /** Whether to wait for the jobs, instead of polling them once. */
  readonly wait?: boolean | undefined;
  /** Whether it is a failure that the service no longer has the results of a job. */
  readonly wantsResults?: boolean | undefined;
}

/**
 * Advances a run once: uploads what is left, polls its jobs or waits for them, and writes the results if they are ready.
 * The caller must have locked the run.
 * @throws SvcError `pending` if the service said in this call that a job is under way, or why the run has no results
 */
export async function advanceRun(context: Context, run: RunDirectory, advance: Advance = {}): Promise<void> {
  const { failOn } = advance;
  await repairCopy(context, run);
  await invalidateResults(run);
  const { record } = run;
  const wasOpen = isOpen(record);
  // Another process may have completed the run in the meantime.
  if (wasOpen) await resume(context, run, advance);
  if (!wasOpen || record.results === undefined || failOn === undefined) return;
  checkThreshold(await countedResults(record, actionsOf(context, [])), record.input.rows, failOn);
}

async function resume(context: Context, run: RunDirectory, advance: Advance): Promise<void> {
  const { record } = run;
  const { wait, wantsResults = wait, again = [...run.resumeWords, '--wait'] } = advance;
  const client = await context.client();
  const upload = await uploadRest(context, run);
  const how = { onEvent: showRun(context, record), ledger: new CommandLedger(context) };
  if (wait && upload === undefined) await resumable(again, { run: record.id }, waitForRun(client, run, how));
  else {
    const polled = await pollRun(client, run, how).catch((error: unknown) => {
      if (isSvcError(error)) return { poll: error };
      throw error;
    });
    const reason = verdictOf(run, { upload, ...polled }, { isSent: !wantsResults });
    if (reason !== undefined) throw reason;
  }
  if (isForgottenRun(record)) context.notices.note(forgottenRunError(run).message);
  if (statusOf(record) !== 'completed') return;
  const { file } = await deliverAsRecorded(context, run);
  noteUncompared(context, record);
  await deliverFixFile(context, run);
  const warning = await firstWarning(context, record);
  const trend = record.counts && (await trendOf(context, record, record.counts));
  for (const odd of [warning, trend?.jump]) if (odd !== undefined) context.notices.warn(`${record.id}: ${odd}`);
  context.notices.success(`${record.id} completed: results in ${file}`);
  if (trend) context.notices.note(`${record.id}: ${trend.text}`);
}

/** Uploads the remaining parts. @returns the error, if the results of other parts can still be downloaded */
async function uploadRest(context: Context, run: RunDirectory): Promise<SvcError | undefined> {
  try {
    await uploadRun(context, run, { pollOnce: true });
    return undefined;
  } catch (error) {
    // Results of other parts may expire, so the upload error must not prevent their download.
    if (isSvcError(error, ...OF_THE_UPLOAD)) return error;
    throw error;
  }
}

/** Upload errors after which polling is still useful. */
const OF_THE_UPLOAD = ['local', 'checksum_mismatch', 'conflict', 'forbidden', 'rejected', 'outcome_unknown'] as const;
