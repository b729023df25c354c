import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { RunOptions } from './events.ts';
import { failedError, readJob } from './job.ts';
import { nextLookMs } from './looks.ts';
import { type Nudge, pause } from './pause.ts';

/** How to wait. */
export interface WaitOptions extends RunOptions {
  /** Longest wait in milliseconds; a production job takes up to seven days, and eight is the default. */
  readonly limitMs?: number | undefined;
  /** Tells when there is reason to look before the pause is over. */
  readonly nudge?: Nudge | undefined;
}

/** How long a wait lasts when no limit is given: a production job takes up to seven days. */
export const LONGEST_WAIT_MS = 8 * 86_400_000;
const OUTAGE = ['network', 'server', 'rate_limited', 'bad_answer'] as const;

/**
 * Looks at a job until it is completed, less and less often. Outages do not end the wait.
 * @throws SvcError `job_failed`, `job_expired` when it vanished, `pending` when the time is up
 */
export async function waitForJob(
  client: Client,
  id: string,
  options: WaitOptions = {},
): Promise<AccountUpdaterJob> {
  const { clock, signal } = client;
  const { random = Math.random, limitMs = LONGEST_WAIT_MS, onEvent } = options;
  const started = clock.now();
  let status = 'unknown';
  for (let look = 0; ; look += 1) {
    const seen = await lookAt(client, id);
    if ('job' in seen) {
      status = seen.job.status;
      if (status === 'failed') throw failedError(seen.job);
      if (status === 'completed') {
        onEvent?.({ kind: 'completed', job: id });
        return seen.job;
      }
    }
    const waitedMs = clock.now() - started;
    const nextMs = Math.min(nextLookMs(look, waitedMs, random), limitMs - waitedMs);
    if (nextMs <= 0) throw pendingError(id, status, waitedMs);
    onEvent?.(
      'job' in seen
        ? { kind: 'looked', job: id, status, waitedMs, nextMs }
        : { kind: 'cut off', job: id, ...seen, nextMs },
    );
    await pause(clock, nextMs, signal, options.nudge);
  }
}

async function lookAt(client: Client, id: string): Promise<{ job: AccountUpdaterJob } | { reason: string }> {
  try {
    return { job: await readJob(client, id) };
  } catch (error) {
    if (isSvcError(error, ...OUTAGE)) return { reason: error.message };
    throw error;
  }
}

function pendingError(id: string, status: string, waitedMs: number): SvcError {
  return new SvcError('pending', `job ${id} is still ${status} after ${Math.round(waitedMs / 1000)} s`, {
    hint: `Continue with 'svc au wait ${id}'.`,
    facts: { job: id, job_status: status },
  });
}
