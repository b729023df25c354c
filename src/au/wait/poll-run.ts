import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { UnprovenDownload } from '../../client/transfer/download.ts';
import {
  checksOf,
  downloadResults,
  isIntact,
  NotCompleted,
  recordPartResults,
  removePartialFiles,
} from '../results/download.ts';
import { shareResults, takeResults } from '../results/share-results.ts';
import type { RunOptions } from '../run/job.ts';
import { apply, type Part } from '../run/part.ts';
import { pollJobs, type Polled, recordPoll, tellingOnce, workOn } from '../run/poll-parts.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';

/** Failures that concern the results of one part. After any other failure the next part would fail too. */
const OF_ONE_PART = ['not_found', 'rejected', 'forbidden', 'truncated', 'checksum_mismatch', 'bad_response'] as const;

/** The outcome of one poll of a run. */
export interface RunPoll {
  /** The number of parts still under way. */
  readonly left: number;
  readonly polled: Polled;
  /** The error that prevented the download of one part's results. */
  readonly results: SvcError | undefined;
}

export interface PollRunOptions extends RunOptions {
  readonly ledger?: Pick<CommandLedger, 'compareRead' | 'enterWanted' | 'keptResults'> | undefined;
  /** How long to wait for results that the store does not have yet, in milliseconds. Default: not at all. */
  readonly lateMs?: number | undefined;
}

/** Polls once the jobs under way, and downloads the results of completed jobs. */
export async function pollRun(client: Client, run: RunDirectory, options: PollRunOptions): Promise<RunPoll> {
  await shareResults(run);
  const polled = await pollJobs(workOn(client, run, options));
  const results = await collectResults(client, run, options);
  removePartialFiles(run);
  return { left: polled.underWay.length, polled, results };
}

/**
 * Downloads the results of every completed part into the run's directory. A part whose job is missing, or still under way
 * although the list shows it as completed, is polled again.
 * @returns the first error that concerns a single part; the results of other parts are downloaded regardless
 */
async function collectResults(
  client: Client,
  run: RunDirectory,
  options: PollRunOptions,
): Promise<SvcError | undefined> {
  let failure: SvcError | undefined;
  const completed = run.record.parts.filter(({ state }) => state === 'completed');
  for (const [part, how] of tellingOnce(completed, options)) {
    try {
      // The results of an earlier part may be those of this one.
      if (part.joined !== undefined) await shareResults(run);
      if (part.state === 'completed') await collectPart(client, run, part, how);
    } catch (error) {
      const isKept = await restore(run, part);
      if (isKept && isSvcError(error, 'job_expired', 'job_failed', 'pending')) continue;
      if (isSvcError(error, 'job_expired')) await recordPoll(workOn(client, run, how), part, undefined);
      else if (error instanceof NotCompleted) await recordPoll(workOn(client, run, how), part, error.job);
      else if (isSvcError(error, 'job_failed')) markPartFailed(run, part, error, how);
      else if (isSvcError(error, ...OF_ONE_PART)) failure ??= error;
      else throw error;
    }
  }
  return failure;
}

async function collectPart(client: Client, run: RunDirectory, part: Part, options: PollRunOptions): Promise<void> {
  const target = run.resultsFile(part);
  if (await takeKept(run, part, options)) return;
  const checks = await checksOf(run, part);
  const compared = checks.request !== undefined;
  try {
    // A download that was not recorded is repeated, because the file alone does not prove that it is complete.
    const { bytes, sha256, proof } = await downloadResults(client, part.job ?? '', target, {
      ...options,
      overwrite: true,
      ...checks,
      compareRead: async (file, { tenant_id: tenant, id }) =>
        options.ledger?.compareRead(tenant ?? run.record.tenant_id, id, file),
      onAccepted: async (file, { tenant_id: tenant, id }) =>
        options.ledger?.enterWanted(tenant ?? run.record.tenant_id, id, file),
    });
    recordPartResults(run, part, { bytes, sha256, proof, compared });
  } catch (error) {
    throw error instanceof UnprovenDownload ? recordUnproven(run, part, error) : error;
  }
}

/** Takes the results of another run's job from that run, if it is on this machine and has them. */
async function takeKept(run: RunDirectory, part: Part, { ledger }: PollRunOptions): Promise<boolean> {
  const kept = part.joined === undefined ? undefined : await ledger?.keptResults(part.job ?? '');
  return kept !== undefined && takeResults(run, part, kept.file, kept.results);
}

/** The error for results that are not proven complete. The part remains unchanged. */
class RefusedResults extends SvcError {}

function recordUnproven(run: RunDirectory, part: Part, error: UnprovenDownload): RefusedResults {
  const { kept } = error;
  if (kept) {
    apply(part, { kind: 'unproven', file: { ...kept, file: path.basename(kept.file), job: part.job ?? '' } });
    run.save();
  }
  const refused = error.with({
    message: `the results of job ${part.job} were refused: ${error.message}`,
    hint: kept
      ? `The same bytes came each time and are kept in ${kept.file}. If they are right, accept them:`
      : 'Try again later: that costs nothing. If the results are still refused, contact support with the job id.',
    next: kept ? ['au', 'download', run.name, '--accept-unproven'] : ['au', 'resume', run.name, '--wait'],
    retryable: true,
    facts: { run: run.record.id, job: part.job },
  });
  return new RefusedResults(refused.code, refused.message, refused);
}

function markPartFailed(run: RunDirectory, part: Part, { message }: SvcError, options: RunOptions): void {
  apply(part, { kind: 'failed', reason: message });
  run.save();
  options.onEvent?.({ kind: 'failed', job: part.job ?? '', errors: [message] });
}

/** Restores the stored results of a part, if there are any. */
async function restore(run: RunDirectory, part: Part): Promise<boolean> {
  if (part.results?.job !== part.job || !(await isIntact(run, part))) return false;
  apply(part, { kind: 'intact' });
  run.save();
  return true;
}
