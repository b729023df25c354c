import type { AccountUpdater } from '../api/account-updater.ts';
import type { Clock } from '../clock.ts';
import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { RunDeps } from './deps.ts';
import { nextLookMs } from './looks.ts';

/** What happens while a job is waited for. */
export type WaitEvent =
  | { readonly kind: 'looked'; readonly status: string; readonly waitedMs: number; readonly nextMs: number }
  | { readonly kind: 'cut off'; readonly reason: string; readonly nextMs: number };

/** How to wait. */
export interface WaitOptions {
  readonly jobs: Pick<AccountUpdater, 'read'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Longest wait in milliseconds. A production job takes up to seven days. */
  readonly limitMs?: number | undefined;
  readonly random?: (() => number) | undefined;
  readonly onEvent?: ((event: WaitEvent) => void) | undefined;
}

/** Waits for a job of a run, telling each look. */
export async function waitUntilCompleted(job: string, deps: RunDeps): Promise<AccountUpdaterJob> {
  const completed = await waitForJob(job, {
    ...deps,
    jobs: deps.client.accountUpdater,
    onEvent: (event) => deps.onEvent({ ...event, job }),
  });
  deps.onEvent({ kind: 'completed', job });
  return completed;
}

const DAY_MS = 86_400_000;
const LONGEST_JOB_MS = 8 * DAY_MS;
const OUTAGE = ['network', 'server', 'rate_limited', 'bad_answer'] as const;

/**
 * Looks at a job until it is completed, less and less often. Outages do not end the wait.
 * @throws SvcError `job_failed`, `job_expired` when it vanished, `pending` when the time is up
 */
export async function waitForJob(id: string, options: WaitOptions): Promise<AccountUpdaterJob> {
  const { clock, signal } = options;
  const started = clock.now();
  const random = options.random ?? Math.random;
  const limit = options.limitMs ?? LONGEST_JOB_MS;
  let status = 'unknown';
  for (let look = 0; ; look += 1) {
    const job = await lookAt(id, options);
    const waitedMs = clock.now() - started;
    if ('job' in job) {
      status = job.job.status;
      if (status === 'completed') return job.job;
      if (status === 'failed') throw failedError(job.job);
    }
    const nextMs = Math.min(nextLookMs(look, waitedMs, random), limit - waitedMs);
    if (nextMs <= 0) throw pendingError(id, status, waitedMs);
    options.onEvent?.(
      'job' in job ? { kind: 'looked', status, waitedMs, nextMs } : { kind: 'cut off', ...job, nextMs },
    );
    await clock.sleep(nextMs, signal);
  }
}

async function lookAt(
  id: string,
  { jobs }: WaitOptions,
): Promise<{ job: AccountUpdaterJob } | { reason: string }> {
  try {
    return { job: await jobs.read(id) };
  } catch (error) {
    if (isSvcError(error, 'not_found')) throw expiredError(id);
    if (isSvcError(error, ...OUTAGE)) return { reason: error.message };
    throw error;
  }
}

/** The service knows the job no more. */
export function expiredError(id: string): SvcError {
  return new SvcError(
    'job_expired',
    `job ${id} is not there: a job without its file is removed one hour after it was created`,
    {
      status: 404,
      hint: "Submit the file again with 'svc au submit'; nothing was processed for a job that was removed.",
      facts: { job: id },
    },
  );
}

/** The job ended without results. */
export function failedError(job: AccountUpdaterJob): SvcError {
  const errors = job.errors ?? [];
  const said = errors.length === 0 ? 'the service gave no reason' : errors.join('; ');
  return new SvcError('job_failed', `job ${job.id} failed: ${said}`, {
    hint: "Mend what the message names and submit the file again, or contact the service's support with the job id.",
    facts: { job: job.id, errors },
  });
}

function pendingError(id: string, status: string, waitedMs: number): SvcError {
  return new SvcError('pending', `job ${id} is still ${status} after ${Math.round(waitedMs / 1000)} s`, {
    hint: `Continue with 'svc au wait ${id}'.`,
    facts: { job: id, job_status: status },
  });
}
