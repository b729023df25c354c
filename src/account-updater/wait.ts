import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { countText, formatDuration } from '../output/time.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import {
  failedError,
  findJob,
  MISSING_MS,
  pollReporter,
  pollUntil,
  readJob,
  type RunOptions,
  type WakeUp,
} from './job.ts';
import { requireKnownOutcome } from './poll-parts.ts';
import { hasUnknown, isUntouched, needsFile, progressOf, statusOf } from './record.ts';
import { pollRun } from './results.ts';
import type { RunDirectory } from './run-directory.ts';

export interface WaitOptions extends RunOptions {
  /** Longest wait in milliseconds; a production job takes up to seven days, and eight is the default. */
  readonly limitMs?: number | undefined;
  /** Resolves when there is reason to poll before the pause is over. */
  readonly wakeUp?: WakeUp | undefined;
}

/** How long a wait lasts when no limit is given: a production job takes up to seven days. */
export const LONGEST_WAIT_MS = 8 * 86_400_000;

/**
 * Polls a job with increasing intervals until it is completed. Outages do not end the wait.
 * @throws SvcError `job_failed`, `job_expired` when it was deleted, `pending` when the time is up
 */
export async function waitForJob(client: Client, id: string, options: WaitOptions = {}): Promise<AccountUpdaterJob> {
  const { clock } = client;
  const { random, limitMs = LONGEST_WAIT_MS, wakeUp, onEvent } = options;
  const started = clock.now();
  const job = await pollUntil(client, {
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
  if (job?.status === 'failed') throw failedError(job);
  if (job?.status !== 'completed') {
    const status = job?.status ?? 'unknown';
    const waited = formatDuration(clock.now() - started);
    throw new SvcError('pending', `job ${id} is still ${status} after ${waited}`, {
      next: ['au', 'wait', id],
      facts: { job: id, job_status: status },
    });
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
 * @throws SvcError `job_failed` when a part failed, `outcome_unknown` when it is unknown whether the service has the
 *   file of one, `job_expired` when one needs another job, `pending` when the time is up
 */
export async function waitForRun(client: Client, run: RunDirectory, options: WaitOptions = {}): Promise<void> {
  const { limitMs = LONGEST_WAIT_MS, random, onEvent, wakeUp } = options;
  const { record } = run;
  const waiting = pollUntil(client, {
    poll: () => pollRun(client, run, options),
    isDone: (count) => count === 0,
    limitMs: () => limitMs,
    random,
    wakeUp,
    onPoll: pollReporter(client, record.id, onEvent, () => ({ status: progressOf(record) })),
  });
  const left = await waiting.catch((error: unknown) => {
    if (isSvcError(error, 'timeout')) doubtMissing(run);
    if (isSvcError(error, 'timeout') && hasUnknown(record)) return undefined;
    throw error;
  });
  if (left !== 0) doubtMissing(run);
  requireKnownOutcome(run);
  if (left !== 0) throw pendingRunError(run);
  if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
  if (needsFile(record)) throw unfinishedError(run);
  onEvent?.({ kind: 'completed', job: record.id });
}

/** When the time is up, it is unknown of a job that is missing whether the service has its file. */
function doubtMissing(run: RunDirectory): void {
  const missing = run.record.parts.filter(
    ({ state, missing_since: since }) => state === 'uploaded' && since !== undefined,
  );
  for (const part of missing) part.state = 'unknown';
  if (missing.length > 0) run.save();
}

export function failedRunError({ record, submitWords }: RunDirectory): SvcError {
  const failed = record.parts.filter(({ state }) => state === 'failed');
  const problems = failed.map(
    ({ number, job, errors = [] }) => `part ${number} (job ${job}): ${errors.join('; ') || 'no reason given'}`,
  );
  return new SvcError(
    'job_failed',
    `${failed.length} of ${countText(record.parts.length, 'job')} of run ${record.id} failed`,
    {
      hint: 'Fix what the messages name, then submit the file again: only what failed is retried.',
      next: submitWords,
      facts: { run: record.id, problems, status: statusOf(record) },
    },
  );
}

/** Parts have no job with a file, or none any more: submitting the file again uploads them. */
export function unfinishedError({ record, name, submitWords }: RunDirectory): SvcError {
  const { id, parts } = record;
  if (isUntouched(record) && statusOf(record) !== 'abandoned')
    return new SvcError('job_expired', `nothing of run ${id} was sent yet`, {
      hint: 'Submit its file, or abandon the run.',
      next: submitWords,
      alternatives: [['au', 'abandon', name]],
      facts: { run: id },
    });
  const waiting = parts.filter((part) => needsFile({ parts: [part] }));
  const numbers = waiting.map(({ number }) => number).join(', ');
  const what = parts.length === 1 ? 'its file' : `the file of part ${numbers}`;
  const gone = waiting.flatMap(({ earlier_jobs: earlier = [] }) => earlier.at(-1)?.job ?? []);
  const why = gone.length === 0 ? '' : `: job ${gone.join(', ')} was deleted without it`;
  const isAbandoned = statusOf(record) === 'abandoned';
  return new SvcError('job_expired', `run ${id} has yet to upload ${what}${why}`, {
    hint: isAbandoned
      ? 'The run was abandoned. The results of what was uploaded can be downloaded.'
      : 'Submit the file again to upload the rest, or abandon the run.',
    next: isAbandoned ? ['au', 'download', name] : submitWords,
    facts: { run: id },
  });
}

export function pendingRunError({ record, name }: RunDirectory): SvcError {
  return new SvcError('pending', `run ${record.id} is not completed: ${progressOf(record)}`, {
    next: ['au', statusOf(record) === 'abandoned' ? 'download' : 'wait', name],
    facts: { run: record.id },
  });
}
