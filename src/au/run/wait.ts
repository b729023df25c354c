import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil, type WakeUp } from '../../client/api/poll.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import type { RunPoll } from '../results/download.ts';
import { failedError, findJob, pollReporter, readJob, type RunOptions } from './job.ts';
import { apply, MISSING_MS, type Part } from './part.ts';
import { unknownOutcomeError } from './poll-parts.ts';
import { pollRun } from './poll-run.ts';
import { hasUnknown, isUntouched, needsFile, progressOf, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { worstOf } from './verdict.ts';

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
 * @throws SvcError what keeps it from its results (see `whyNotDone`), or why no poll was answered
 */
export async function waitForRun(client: Client, run: RunDirectory, options: WaitOptions = {}): Promise<void> {
  const { limitMs = LONGEST_WAIT_MS, random, onEvent, wakeUp } = options;
  const { record } = run;
  const poll = async (): Promise<RunPoll> => {
    const found = await pollRun(client, run, options);
    // While other jobs are under way, the next poll tries again.
    if (found.failure !== undefined && found.left === 0) throw found.failure;
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
  const reason = worstOf([seen.failure, whyNotDone(run)]) ?? (seen.left === 0 ? undefined : (outage ?? timeUp));
  if (reason !== undefined) throw timeUp && reason.code === 'pending' ? after(timeUp, reason) : reason;
  onEvent?.({ kind: 'completed', job: record.id });
}

/** An error that says first that the time of the command was up. */
function after(timeUp: SvcError, { code, message, hint, next, facts }: SvcError): SvcError {
  return new SvcError(code, `${timeUp.message}; ${message}`, { hint, next, facts });
}

/**
 * What keeps a run from its results, by what a poll of this command recorded: the worst there is. Undefined where it is
 * completed, and where only results could not be downloaded. `uploadFailure`: why parts were not uploaded, if known.
 */
export function whyNotDone(run: RunDirectory, uploadFailure?: SvcError): SvcError | undefined {
  const { record } = run;
  return worstOf([
    record.parts.some(({ state }) => state === 'failed') ? failedRunError(run) : undefined,
    hasUnknown(record) ? unknownOutcomeError(run) : undefined,
    needsFile(record) ? (uploadFailure ?? unfinishedError(run)) : undefined,
    whyUnderWay(run),
  ]);
}

/** Whether jobs that have their file are under way, or not found; undefined where there are none. */
export function whyUnderWay(run: RunDirectory): SvcError | undefined {
  const underWay = run.record.parts.filter(({ state }) => state === 'uploaded');
  if (underWay.some(isMissing)) return missingRunError(run);
  return underWay.length > 0 ? pendingRunError(run) : undefined;
}

function isMissing({ missing_since: since }: Part): boolean {
  return since !== undefined;
}

/** A job that should be there is not found, which is no proof of anything yet. */
function missingRunError({ record, name }: RunDirectory): SvcError {
  const missing = record.parts.filter((part) => part.state === 'uploaded' && isMissing(part));
  const jobs = missing.map(({ job }) => job);
  return new SvcError(
    'outcome_unknown',
    `job ${jobs.join(', ')} of run ${record.id} is not found, though it has its file`,
    {
      hint: 'The service may lag: try again in a few minutes. Nothing is uploaded again.',
      next: ['au', 'status', name],
      retryable: true,
      facts: { run: record.id, jobs },
    },
  );
}

/** When the time is up, it is unknown of a job that is missing whether the service has its file. */
function doubtMissing(run: RunDirectory): void {
  const missing = run.record.parts.filter((part) => part.state === 'uploaded' && isMissing(part));
  for (const part of missing) apply(part, { kind: 'given up' });
  if (missing.length > 0) run.save();
}

function failedRunError({ record, submitWords }: RunDirectory): SvcError {
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

function pendingRunError({ record, name }: RunDirectory): SvcError {
  return new SvcError('pending', `run ${record.id} is not completed: ${progressOf(record)}`, {
    next: ['au', statusOf(record) === 'abandoned' ? 'download' : 'wait', name],
    facts: { run: record.id },
  });
}
