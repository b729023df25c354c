import { SvcError } from '../../base/errors.ts';
import { formatDuration } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil, type WakeUp } from '../../client/api/poll.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { failedError, findJob, pollReporter, readJob, type RunOptions } from './job.ts';
import { apply, isMissing, MISSING_MS } from './part.ts';
import { pollRun, type RunPoll } from './poll-run.ts';
import { progressOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { after, verdictOf } from './verdict.ts';

export interface WaitOptions extends RunOptions {
  /** Longest wait in milliseconds; a production job takes up to seven days, and eight is the default. */
  readonly limitMs?: number | undefined;
  /** Resolves when there is reason to poll before the pause is over. */
  readonly wakeUp?: WakeUp | undefined;
  /** The command that goes on with the wait. */
  readonly again?: readonly string[] | undefined;
}

/** How long a wait lasts when no limit is given: a production job takes up to seven days. */
export const LONGEST_WAIT_MS = 8 * 86_400_000;

/**
 * Polls a job with increasing intervals until it is completed. Outages do not end the wait.
 * @throws SvcError `job_failed`, `job_expired` when it was deleted, `pending` when the time is up and a response said
 *   so, else why there was none
 */
export async function waitForJob(client: Client, id: string, options: WaitOptions = {}): Promise<AccountUpdaterJob> {
  const { clock } = client;
  const { random, limitMs = LONGEST_WAIT_MS, wakeUp, onEvent } = options;
  const started = clock.now();
  const { seen: job, timeUp } = await pollUntil(client, {
    poll: jobReader(client, id),
    isDone: ({ status }) => status === 'completed' || status === 'failed',
    limitMs: () => limitMs,
    wakeUp,
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
      next: ['au', 'wait', id],
      facts: { job: id, job_status: job.status },
    });
    throw timeUp ? after(timeUp, pending) : pending;
  }
  onEvent?.({ kind: 'completed', job: id });
  return job;
}

/** Reads a job again and again: one that was seen before is not gone because of one 404. */
function jobReader(client: Client, id: string): () => Promise<AccountUpdaterJob> {
  let seenAt: number | undefined;
  return async () => {
    const job = await findJob(client, id);
    if (job !== undefined) seenAt = client.clock.now();
    if (job !== undefined || seenAt === undefined || client.clock.now() - seenAt > MISSING_MS)
      return job ?? readJob(client, id);
    throw new SvcError('bad_response', `job ${id} was not found (404)`);
  };
}

/**
 * Polls all jobs of a run with increasing intervals and downloads results as they come, until none is under way.
 * @throws SvcError what keeps it from its results (see `verdictOf`), or why no poll had a response
 */
export async function waitForRun(client: Client, run: RunDirectory, options: WaitOptions = {}): Promise<void> {
  const { limitMs = LONGEST_WAIT_MS, random, onEvent, wakeUp, again } = options;
  const { record } = run;
  const poll = async (): Promise<RunPoll> => {
    const found = await pollRun(client, run, options);
    // While other jobs are under way, the next poll tries again.
    if (found.results !== undefined && found.left === 0) throw found.results;
    return found;
  };
  const { seen, outage, timeUp } = await pollUntil(client, {
    poll,
    isDone: ({ left }) => left === 0,
    limitMs: () => limitMs,
    random,
    wakeUp,
    onPoll: pollReporter(client, record.id, onEvent, () => ({ status: progressOf(record) })),
  });
  if (seen.left !== 0) doubtMissing(run);
  const reason = verdictOf(run, { results: seen.results, outage, timeUp }, { again });
  if (reason !== undefined) throw reason;
  onEvent?.({ kind: 'completed', job: record.id });
}

/** When the time is up, it is unknown of a job that is missing whether the service has its file. */
function doubtMissing(run: RunDirectory): void {
  const missing = run.record.parts.filter((part) => part.state === 'uploaded' && isMissing(part));
  for (const part of missing) apply(part, { kind: 'given up' });
  if (missing.length > 0) run.save();
}
