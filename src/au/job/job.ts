// Reads jobs from the service: one, several, or the list.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { formatDuration, parseTime, wholeSecond } from '../../cli/output/time.ts';
import { formatNumber } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { CursorRefused, type Page } from '../../client/api/pages.ts';
import type { PollResult } from '../../client/api/poll.ts';
import type { Flaw } from '../../client/transfer/receive.ts';
import { JOB_STATUSES, UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { UUID } from '../../schema/uuid.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

/** An event after each poll of a wait, except the last. */
type PollEvent =
  | {
      readonly kind: 'polled';
      readonly status: string;
      readonly nextMs: number;
      /** The service's time, in epoch milliseconds. */
      readonly at: number;
      /** The creation time that the service reports, for a wait for a single job. */
      readonly since?: string | undefined;
    }
  | { readonly kind: 'unreachable'; readonly reason: string; readonly nextMs: number };

/** An event in the life of a job. `job` is the id of the job; in a wait for several jobs, their file or cycle. */
export type JobEvent =
  | { readonly kind: 'created'; readonly job: AccountUpdaterJob }
  | {
      readonly kind: 'uploading' | 'downloading';
      readonly job: string;
      readonly done: number;
      readonly total: number | undefined;
    }
  | { readonly kind: 'unclear'; readonly job: string; readonly reason: string }
  | { readonly kind: 'uploaded' | 'completed'; readonly job: string }
  | ({ readonly job: string } & PollEvent)
  | { readonly kind: 'downloaded'; readonly job: string; readonly path: string }
  /** Results were not proven complete, and are downloaded again after a pause. */
  | { readonly kind: 'unproven'; readonly job: string; readonly flaws: readonly Flaw[]; readonly nextMs: number }
  /** The ledger does not know these jobs of the key. They are undefined if the key may not list jobs. */
  | { readonly kind: 'unrecorded'; readonly jobs: readonly string[] | undefined }
  /** The service does not find a job that may have its file. Polling continues, because that is no proof. */
  | { readonly kind: 'missing'; readonly job: string };

/** Options of every step with a job. The clock and the signal come from the client. */
export interface JobOptions {
  /** Called immediately after each step, because an unreported id is lost if the process dies. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined;
}

/** Tells whether a word is the id of a job, which is a UUID. Every other word is a cycle. */
export function isJobId(word: string): boolean {
  return UUID.test(word);
}

/** Reads a job. @throws SvcError `job_expired` if the service does not find it */
export async function readJob(client: Client, id: string): Promise<AccountUpdaterJob> {
  const job = await findJob(client, id);
  if (job === undefined) throw missingError(id);
  return job;
}

/**
 * Reads a job. Returns undefined if the service itself reports that it does not exist. Only jobs without a file are
 * removed, but a single such response proves nothing, because a replica may lag or the key may belong to another
 * tenant.
 * @throws SvcError `bad_response` for a 404 from another source, such as a gateway's page
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

/**
 * Yields the jobs page by page, newest first. A 404 for the list says nothing about any job; with `orNone`, it ends the
 * list, as does a refused cursor.
 */
export async function* jobPages(client: Client, { orNone = false } = {}): AsyncGenerator<readonly ListedJob[]> {
  try {
    for await (const { items } of client.accountUpdater.list({ pageSize: MAX_PAGE_SIZE }).pages()) yield items;
  } catch (error) {
    const isNone = isSvcError(error, 'not_found');
    // A job can be read by a key that may not list jobs.
    if (orNone && (isNone || isSvcError(error, 'forbidden') || error instanceof CursorRefused)) return;
    throw isNone ? foreignError(error) : error;
  }
}

/** Finds jobs by their ids: several in the list, one by reading it. Unknown jobs are left out. */
export async function findJobs(client: Client, ids: ReadonlySet<string>): Promise<Map<string, AccountUpdaterJob>> {
  const missingIds = new Set(ids);
  const jobs = missingIds.size > 1 ? await findInList(client, missingIds) : new Map<string, AccountUpdaterJob>();
  for (const id of missingIds) {
    const job = await findJob(client, id);
    if (job) jobs.set(id, job);
  }
  return jobs;
}

/** Finds jobs in the list and removes their ids from `missingIds`. Stops when single reads need fewer requests. */
async function findInList(client: Client, missingIds: Set<string>): Promise<Map<string, AccountUpdaterJob>> {
  const jobs = new Map<string, AccountUpdaterJob>();
  let fruitlessPages = 0;
  for await (const page of jobPages(client, { orNone: true })) {
    const before = missingIds.size;
    for (const job of page) if (isReadable(job) && missingIds.delete(job.id)) jobs.set(job.id, job);
    if (missingIds.size === 0) break;
    if (missingIds.size < before) continue;
    fruitlessPages += 1;
    // The list begins with the newest jobs. A page without matches after pages with matches is older than all of them.
    if (jobs.size > 0 || fruitlessPages > missingIds.size / 4) break;
  }
  return jobs;
}

/** The error for a list of jobs that may miss jobs. */
export class UnsoundList extends SvcError {}

export function unsoundList(why: string, cause?: SvcError): UnsoundList {
  return new UnsoundList(
    'outcome_unknown',
    `the list of jobs does not show which jobs the tenant has: ${why}; nothing was uploaded`,
    {
      hint: 'The rows of this file may be in a job that the list leaves out. Run the same command again in a few minutes; if it happens again, contact the support of the service.',
      next: ['au', 'jobs'],
      retryable: true,
      cause,
    },
  );
}

/**
 * Yields the pages of the list, newest first, if the list is sound: every page is full except the last one, jobs are in order,
 * and no cursor repeats. Only a sound list proves that a job is missing.
 * @throws UnsoundList for any other list, and for one that breaks off
 */
export async function* soundPages(client: Client, size: number): AsyncGenerator<Page<ListedJob>> {
  let [pages, last] = [0, Infinity];
  try {
    for await (const page of client.accountUpdater.list({ pageSize: size }).pages()) {
      const { items, next, repeatsCursor } = page;
      if (items.length > size) throw unsoundList(`a page of ${size} jobs has ${items.length}`);
      if (next !== undefined && items.length < size) throw unsoundList('a page is not full, and another follows');
      if (repeatsCursor) throw unsoundList('a page repeats its cursor, so that another may follow');
      for (const { created_at: at } of items) {
        const created = wholeSecond(parseTime(at ?? '') ?? last);
        if (created > last) throw unsoundList('it is not newest first');
        last = created;
      }
      yield page;
      pages += 1;
    }
  } catch (error) {
    if (isSvcError(error, 'not_found') && pages === 0) throw foreignError(error);
    const isBroken = isSvcError(error, 'truncated', 'bad_response', 'not_found') && !(error instanceof UnsoundList);
    throw isBroken && pages > 0 ? unsoundList(error.message, error) : error;
  }
}

/** Tells whether an item of the list has everything that a job read by its id has. */
export function isReadable(job: ListedJob): job is AccountUpdaterJob {
  return typeof job.id === 'string' && typeof job.status === 'string';
}

/** The most jobs that a message names. */
const MAX_NAMED = 10;

/** Joins the first of several names, and counts the others. */
export function firstOf(names: readonly string[], most = MAX_NAMED): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${formatNumber(names.length - most)} more` : shown;
}

/** Names an item of the list for messages, by its id or else by its creation time. */
export function nameOf({ id, created_at: created }: ListedJob): string {
  return id || `(an item without a readable id${created ? `, created ${created}` : ''})`;
}

export function pollReporter<T>(
  client: Client,
  job: string,
  onEvent: JobOptions['onEvent'],
  describe: (seen: T) => { readonly status: string; readonly since?: string | undefined },
): (result: PollResult<T>, nextMs: number) => void {
  return (result, nextMs) => {
    if ('error' in result) onEvent?.({ kind: 'unreachable', job, reason: result.error.message, nextMs });
    else onEvent?.({ kind: 'polled', job, ...describe(result.seen), nextMs, at: client.now() });
  };
}

/** Returns how a job with errors ended, if svc does not know its status; undefined for any other job. */
export function strangeEnd({ status, errors }: AccountUpdaterJob): string | undefined {
  const isKnown = JOB_STATUSES.some((known) => known === status);
  return isKnown || !errors?.length
    ? undefined
    : `has the status ${status}, which svc does not know: ${errors.join('; ')}`;
}

/** Returns the error for a job that ended without results; undefined for any other job. */
export function endError(job: AccountUpdaterJob): SvcError | undefined {
  if (job.status === 'failed') return failedError(job);
  const end = strangeEnd(job);
  if (end === undefined) return undefined;
  return new SvcError('outcome_unknown', `job ${job.id} ${end}`, {
    hint: "Ask the service's support, with the job id, whether the file was processed. Only if it was not, free its rows with the second of these commands and submit them again: rows that were processed are then paid for twice.",
    next: ['au', 'status', job.id],
    alternatives: [['au', 'abandon', job.id]],
    retryable: false,
    facts: { job: job.id, job_status: job.status, errors: job.errors },
  });
}

function failedError(job: AccountUpdaterJob): SvcError {
  const errors = job.errors ?? [];
  const reasons = errors.length === 0 ? 'the service gave no reason' : errors.join('; ');
  return new SvcError('job_failed', `job ${job.id} failed: ${reasons}`, {
    hint: "Fix what the message names and submit the file again, or contact the service's support with the job id.",
    next: ['au', 'submit', '<file>'],
    facts: { job: job.id, errors },
  });
}

/** Returns the error for a job that the service does not find. Includes the expiry of its upload address, if known. */
export function missingError(id: string, known?: { readonly expiresAt: number; readonly now: number }): SvcError {
  const details = { status: 404, facts: { job: id } };
  const tenant = 'that the key belongs to the tenant that owns the job';
  if (known === undefined)
    return new SvcError('job_expired', `job ${id} is not found`, {
      ...details,
      hint: `A job is deleted if no file is uploaded to it within an hour. Check the id, and ${tenant}.`,
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

/** Returns the error for a 404 that does not come from the service, and so says nothing about any job. */
function foreignError(error: SvcError): SvcError {
  return error.with({
    code: 'bad_response',
    hint: 'Check the base URL. If it is right, something between you and the service sent this response.',
    next: ['doctor'],
  });
}
