import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import { formatDuration } from '../output/time.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { RunOptions } from './events.ts';
import { failedError, findJob, MISSING_MS, readJob } from './job.ts';
import { pollUntil, type WakeUp } from './poll.ts';

/** How to wait. */
export interface WaitOptions extends RunOptions {
  /** Longest wait in milliseconds; a production job takes up to seven days, and eight is the default. */
  readonly limitMs?: number | undefined;
  /** Tells when there is reason to look before the pause is over. */
  readonly nudge?: WakeUp | undefined;
}

/** How long a wait lasts when no limit is given: a production job takes up to seven days. */
export const LONGEST_WAIT_MS = 8 * 86_400_000;

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
  const { random, limitMs = LONGEST_WAIT_MS, nudge, onEvent } = options;
  const started = clock.now();
  const job = await pollUntil({
    look: jobReader(client, id),
    isDone: ({ status }) => status === 'completed' || status === 'failed',
    limitMs: () => limitMs,
    clock,
    signal,
    nudge,
    random,
    onLook: (glance, nextMs) => {
      const waitedMs = clock.now() - started;
      if ('reason' in glance) onEvent?.({ kind: 'unreachable', job: id, reason: glance.reason, nextMs });
      else {
        const { status, created_at: since } = glance.seen;
        const at = client.now();
        onEvent?.({ kind: 'polled', job: id, status, waitedMs, nextMs, at, since: since ?? undefined });
      }
    },
  });
  if (job?.status === 'failed') throw failedError(job);
  if (job?.status !== 'completed') throw pendingError(id, job?.status ?? 'unknown', clock.now() - started);
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

function pendingError(id: string, status: string, waitedMs: number): SvcError {
  return new SvcError('pending', `job ${id} is still ${status} after ${formatDuration(waitedMs)}`, {
    hint: `Continue with 'svc au wait ${id}'.`,
    facts: { job: id, job_status: status },
  });
}
