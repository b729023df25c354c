import { SvcError } from '../../base/errors.ts';
import { formatDuration } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { apply, MISSING_MS } from '../run/part.ts';
import type { Polled } from '../run/poll-parts.ts';
import { isMissingUpload, partsByJob, progressOf } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { after, verdictOf } from '../run/verdict.ts';
import { LATE_MS } from '../results/download.ts';
import { failedError, findJob, pollReporter, readJob } from '../run/job.ts';
import { Absences } from './absences.ts';
import { pollRun, type PollRunOptions, type RunPoll } from './poll-run.ts';

export interface WaitOptions extends PollRunOptions {
  /** The longest wait in milliseconds. Default: eight days, because a production job takes up to seven. */
  readonly limitMs?: number | undefined;
  /** The command that continues the wait. */
  readonly again?: readonly string[] | undefined;
}

/** The longest wait without a limit. A production job takes up to seven days. */
export const LONGEST_WAIT_MS = 8 * DAY_MS;

/**
 * Polls a job with increasing intervals until it is completed. Outages do not end the wait.
 * @throws SvcError `job_failed`, `job_expired` for a deleted job, `pending` if the time limit ended and a response
 *   reported the job as pending, otherwise the reason for the lack of responses
 */
export async function waitForJob(
  client: Client,
  id: string,
  options: WaitOptions & {
    /** Tells whether a job that the first poll does not find may be found later. Default: it may not. */
    readonly mayBeFound?: (() => Promise<boolean>) | undefined;
  } = {},
): Promise<AccountUpdaterJob> {
  const { clock } = client;
  const { random, limitMs = LONGEST_WAIT_MS, onEvent, mayBeFound } = options;
  const { again = ['au', 'resume', id, '--wait'] } = options;
  const started = clock.now();
  const { seen: job, timeUp } = await pollUntil(client, {
    poll: jobReader(client, id, mayBeFound),
    isDone: ({ status }) => status === 'completed' || status === 'failed',
    limitMs: () => limitMs,
    random,
    onPoll: pollReporter<AccountUpdaterJob>(client, id, onEvent, ({ status, created_at: since }) => ({
      status,
      since: since ?? undefined,
    })),
  });
  if (job.status === 'failed') throw failedError(job);
  if (job.status !== 'completed') {
    const waited = formatDuration(clock.now() - started);
    const pending = new SvcError('pending', `job ${id} is still ${job.status} after ${waited}`, {
      next: again,
      facts: { job: id, job_status: job.status },
    });
    throw timeUp ? after(timeUp, pending) : pending;
  }
  onEvent?.({ kind: 'completed', job: id });
  return job;
}

/**
 * Returns a function that reads a job. A single 404 does not mean that a job is gone if it was seen before or may have its
 * file.
 */
function jobReader(
  client: Client,
  id: string,
  mayBeFound: () => Promise<boolean> = async () => false,
): () => Promise<AccountUpdaterJob> {
  let seenAt: number | undefined;
  return async () => {
    const job = await findJob(client, id);
    if (job !== undefined || (seenAt === undefined && (await mayBeFound()))) seenAt = client.clock.now();
    if (job !== undefined || seenAt === undefined || client.clock.now() - seenAt > MISSING_MS)
      return job ?? readJob(client, id);
    throw new SvcError('bad_response', `job ${id} was not found (404)`);
  };
}

/**
 * Polls all jobs of a run with increasing intervals until each has ended or has been missing for some minutes. Downloads
 * results as they become available.
 * @throws SvcError the reason why the run has no results (see `verdictOf`), or why no poll got a response
 */
export async function waitForRun(client: Client, run: RunDirectory, options: WaitOptions = {}): Promise<void> {
  const { limitMs = LONGEST_WAIT_MS, random, onEvent, again } = options;
  const { record } = run;
  // The list may show a job as completed while a read of it gets 404. Each poll then begins a new absence in the record, so
  // the wait counts by itself.
  const absences = new Absences(client.clock);
  const poll = async (): Promise<RunPoll> => {
    const found = await pollRun(client, run, { ...options, lateMs: LATE_MS });
    // Another part may have results of the same job, which show nothing about the job now.
    for (const parts of partsByJob(record.parts)) absences.note(parts[0].job ?? '', parts.some(isMissingUpload));
    // While other jobs are under way, the next poll retries the download.
    if (found.results !== undefined && found.left === 0) throw found.results;
    return found;
  };
  const { seen, outage, timeUp } = await pollUntil(client, {
    poll,
    isDone: ({ polled }) => polled.underWay.every(({ job = '' }) => absences.isLong(job)),
    limitMs: () => limitMs,
    random,
    onPoll: pollReporter(client, record.id, onEvent, () => ({ status: progressOf(record) })),
  });
  if (seen.left !== 0) doubtMissing(run, seen.polled);
  const reason = verdictOf(run, { ...seen, outage, timeUp }, { again });
  if (reason !== undefined) throw reason;
  onEvent?.({ kind: 'completed', job: record.id });
}

/**
 * Polls all jobs of a run once, and downloads their results.
 * @throws SvcError the reason why the run has no results, such as an outage
 */
export async function pollForResults(client: Client, run: RunDirectory, options: WaitOptions): Promise<void> {
  const reason = verdictOf(run, await pollRun(client, run, options), { again: options.again });
  if (reason !== undefined) throw reason;
}

/** Marks missing jobs at the end of the wait, unless the last poll's list shows that the service has their files. */
function doubtMissing(run: RunDirectory, polled: Polled): void {
  const missing = run.record.parts.filter((part) => isMissingUpload(part) && !polled.shows(part));
  for (const part of missing) apply(part, { kind: 'given up' });
  if (missing.length > 0) run.save();
}
