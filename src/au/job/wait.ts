// Waits for a job, and for reads that an outage may interrupt.

import { type JobOptions, endError, findJob, missingError, pollReporter } from './job.ts';
import { withInterruption } from './resumable.ts';
import { SvcError } from '../../base/errors.ts';
import type { Clock } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import type { WaitProgress } from '../../cli/output/wait-progress.ts';
import { formatDuration } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';

/** How long every poll must miss a job until it counts as missing: a replica may lag. */
export const MISSING_MS = 5 * MINUTE_MS;

/** Records since when every poll of a wait has missed a job. A single poll proves nothing, because a replica may lag. */
export class Absences {
  readonly #since = new Map<string, number>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Records whether a poll missed a job. */
  note(job: string, isMissing: boolean): void {
    if (!isMissing) this.#since.delete(job);
    else if (!this.#since.has(job)) this.#since.set(job, this.#clock.now());
  }

  /** Tells whether a job has been missing for so long that the wait for it ends. */
  isLong(job: string): boolean {
    const since = this.#since.get(job);
    return since !== undefined && this.#clock.now() - since >= MISSING_MS;
  }
}

export interface WaitOptions extends JobOptions {
  /** The longest wait in milliseconds. Default: eight days, because a production job takes up to seven. */
  readonly limitMs?: number | undefined;
  /** The command that continues the wait. */
  readonly again?: readonly string[] | undefined;
  readonly random?: (() => number) | undefined;
}

/** The longest wait without a limit. A production job takes up to seven days. */
export const MAX_WAIT_MS = 8 * DAY_MS;

/**
 * Polls a job with increasing intervals until it is completed. Outages do not end the wait, except one that lasts from the
 * beginning of the wait: then nothing is known of the job.
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
  const { random, limitMs = MAX_WAIT_MS, onEvent, mayBeFound } = options;
  const { again = ['au', 'resume', id, '--wait'] } = options;
  const started = clock.now();
  const { seen: job, commandTimeout } = await pollUntil(client, {
    poll: jobReader(client, id, mayBeFound),
    isDone: (job) => job.status === 'completed' || endError(job) !== undefined,
    limitMs: (seen) => (seen === undefined ? Math.min(limitMs, OUTAGE_MS) : limitMs),
    random,
    onPoll: pollReporter<AccountUpdaterJob>(client, id, onEvent, ({ status, created_at: since }) => ({
      status,
      since: since ?? undefined,
    })),
  });
  const ended = endError(job);
  if (ended) throw ended;
  if (job.status !== 'completed') {
    const waited = formatDuration(clock.now() - started);
    const pending = new SvcError('pending', `job ${id} is still ${job.status} after ${waited}`, {
      next: again,
      facts: { job: id, job_status: job.status },
    });
    throw commandTimeout ? withInterruption(commandTimeout, pending) : pending;
  }
  onEvent?.({ kind: 'completed', job: id });
  return job;
}

/** Returns a function that reads a job. A single 404 is ignored for a job that was seen before or may have its file. */
function jobReader(
  client: Client,
  id: string,
  mayBeFound: () => Promise<boolean> = async () => false,
): () => Promise<AccountUpdaterJob> {
  const absences = new Absences(client.clock);
  let isExpected = false;
  return async () => {
    const job = await findJob(client, id);
    absences.note(id, job === undefined);
    isExpected ||= job !== undefined || (await mayBeFound());
    if (job !== undefined) return job;
    if (!isExpected || absences.isLong(id)) throw missingError(id);
    throw new SvcError('bad_response', `job ${id} was not found (404)`);
  };
}

/** How long `outlast` and the first poll of a wait retry through an outage. */
const OUTAGE_MS = 15 * MINUTE_MS;

/** Runs a read. With `wait`, repeats it while the service, the ledger or the store does not respond. */
export async function outlast<T>(
  { clock, signal, progress }: Pick<Context, 'clock' | 'signal' | 'progress'>,
  wait: boolean,
  read: () => Promise<T>,
): Promise<T> {
  let line: WaitProgress | undefined;
  try {
    const { seen } = await pollUntil(
      { clock, signal },
      {
        poll: read,
        isDone: () => true,
        limitMs: () => (wait ? OUTAGE_MS : 0),
        onPoll: (result, nextMs) => {
          line ??= progress.waiting('jobs');
          const reason = 'error' in result ? result.error.message : '';
          line.update({ state: `no response (${reason})`, nextPollAt: clock.now() + nextMs });
        },
      },
    );
    return seen;
  } finally {
    line?.done();
  }
}
