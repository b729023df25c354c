import { isSvcError, SvcError } from '../../base/errors.ts';
import { formatDuration } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { PollResult } from '../../client/api/poll.ts';
import type { Flaw } from '../../client/transfer/receive.ts';
import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

/** What a wait reports after each poll that was not the last. */
type PollEvent =
  | {
      readonly kind: 'polled';
      readonly status: string;
      readonly nextMs: number;
      /** The service's time, in epoch milliseconds. */
      readonly at: number;
      /** When a job that is waited for alone was created, as the service says. */
      readonly since?: string | undefined;
    }
  | { readonly kind: 'unreachable'; readonly reason: string; readonly nextMs: number };

/** What happens to a job, seen from here. `job` is its id, or the id of the run where several are waited for. */
export type RunEvent =
  | { readonly kind: 'created'; readonly job: AccountUpdaterJob }
  | {
      readonly kind: 'uploading' | 'downloading';
      readonly job: string;
      readonly done: number;
      readonly total: number | undefined;
    }
  | { readonly kind: 'unclear'; readonly job: string; readonly reason: string }
  | { readonly kind: 'replaced'; readonly gone: string; readonly job: string }
  | { readonly kind: 'uploaded' | 'completed'; readonly job: string }
  | ({ readonly job: string } & PollEvent)
  | { readonly kind: 'downloaded'; readonly job: string; readonly path: string }
  /** Results that are not proven whole; they are downloaded again after a pause. */
  | { readonly kind: 'unproven'; readonly job: string; readonly flaws: readonly Flaw[]; readonly nextMs: number }
  /** A pending job that a creation without a clear response may have left. */
  | { readonly kind: 'orphan'; readonly job: string }
  /** Jobs of this key without a record here: another system created them, or a newer copy of the state directory did. */
  | { readonly kind: 'unrecorded'; readonly jobs: readonly string[] }
  /** The service does not know a job that may have its file: polling continues, since that proves nothing. */
  | { readonly kind: 'missing'; readonly job: string }
  /** The file is proven never to have been processed, and its job is gone: it needs another one. */
  | { readonly kind: 'gone'; readonly job: string }
  | { readonly kind: 'failed'; readonly job: string; readonly errors: readonly string[] };

/** What every step of a run takes beside its client, whose clock and signal it uses. */
export interface RunOptions {
  /** Called with each step as soon as it is taken: an id that was not reported is lost when the process dies. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly random?: (() => number) | undefined;
}

/** How long every poll must find a job missing before that means anything, since a replica may lag. */

/** Reads a job. @throws SvcError `job_expired` when the service does not know it */
export async function readJob(client: Client, id: string): Promise<AccountUpdaterJob> {
  const job = await findJob(client, id);
  if (job === undefined) throw missingError(id);
  return job;
}

/**
 * Reads a job, or gives undefined when the service itself says that it does not know it. Only a job without a file is
 * removed, but one such response proves nothing: a replica may lag, and the key may be of another tenant.
 * @throws SvcError `bad_response` for a 404 that is not the service's own, such as a gateway's page
 */
export async function findJob(client: Client, id: string): Promise<AccountUpdaterJob | undefined> {
  try {
    return await client.accountUpdater.read(id);
  } catch (error) {
    if (!isSvcError(error, 'not_found')) throw error;
    if (error.facts?.['not_from_service'] !== true) return undefined;
    throw foreignError(error);
  }
}

/** Lists the jobs page by page, the newest first. A 404 of the list itself says nothing about any job. */
export async function* jobPages(client: Client): AsyncGenerator<readonly AccountUpdaterJob[]> {
  try {
    for await (const { items } of client.accountUpdater.list({ pageSize: 100 }).pages()) yield items;
  } catch (error) {
    throw isSvcError(error, 'not_found') ? foreignError(error) : error;
  }
}

export function pollReporter<T>(
  client: Client,
  job: string,
  onEvent: RunOptions['onEvent'],
  describe: (seen: T) => { readonly status: string; readonly since?: string | undefined },
): (result: PollResult<T>, nextMs: number) => void {
  return (result, nextMs) => {
    if ('reason' in result) onEvent?.({ kind: 'unreachable', job, reason: result.reason, nextMs });
    else onEvent?.({ kind: 'polled', job, ...describe(result.seen), nextMs, at: client.now() });
  };
}

export function failedError(job: AccountUpdaterJob): SvcError {
  const errors = job.errors ?? [];
  const reasons = errors.length === 0 ? 'the service gave no reason' : errors.join('; ');
  return new SvcError('job_failed', `job ${job.id} failed: ${reasons}`, {
    hint: "Fix what the message names and submit the file again, or contact the service's support with the job id.",
    next: ['au', 'submit', '<file>'],
    facts: { job: job.id, errors },
  });
}

/** The error for a job that the service does not know, with the time when its upload address expires, where that is known. */
export function missingError(id: string, known?: { readonly expiresAt: number; readonly now: number }): SvcError {
  const details = { status: 404, facts: { job: id } };
  const tenant = 'that the key belongs to the tenant that owns the job';
  if (known === undefined)
    return new SvcError('job_expired', `job ${id} not found (jobs are deleted if no file is uploaded within an hour)`, {
      ...details,
      hint: `Check the id, and ${tenant}.`,
      next: ['au', 'jobs'],
    });
  const { expiresAt, now } = known;
  const age = formatDuration(Math.max(0, now - expiresAt + UPLOAD_LIFE_MS));
  if (now < expiresAt)
    return new SvcError('not_found', `job ${id} was created ${age} ago and is not found: the service may lag`, {
      ...details,
      retryable: true,
      hint: `Try again in a minute. If it is still not found, check ${tenant}.`,
      next: ['au', 'status', id],
    });
  return new SvcError(
    'job_expired',
    `job ${id} was created ${age} ago and is gone: no file was uploaded within its hour`,
    { ...details, hint: `Check ${tenant}. If it does, nothing was processed for this job.`, next: ['whoami'] },
  );
}

function foreignError({ message, status, requestId }: SvcError): SvcError {
  return new SvcError('bad_response', message, {
    status,
    requestId,
    hint: 'Check the base URL. If it is right, something between you and the service sent this response.',
    next: ['doctor'],
  });
}
