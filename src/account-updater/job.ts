import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { formatDuration } from '../output/time.ts';
import { UPLOAD_LIFE_MS } from '../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { UploadSource } from '../transfer/source.ts';
import type { RunOptions } from './events.ts';
import type { EarlierJob, RunPart, RunRecord } from './record.ts';

/** How long a job must be found missing, poll after poll, before that counts: a replica may lag. */
export const MISSING_MS = 5 * 60_000;

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

/** The newest jobs first, page by page. A 404 on the list is never the end of anything: it says nothing of a job. */
export async function* jobPages(client: Client): AsyncGenerator<readonly AccountUpdaterJob[]> {
  try {
    for await (const { items } of client.accountUpdater.list({ pageSize: 100 }).pages()) yield items;
  } catch (error) {
    throw isSvcError(error, 'not_found') ? foreignError(error) : error;
  }
}

/** The job ended without results. */
export function failedError(job: AccountUpdaterJob): SvcError {
  const errors = job.errors ?? [];
  const said = errors.length === 0 ? 'the service gave no reason' : errors.join('; ');
  return new SvcError('job_failed', `job ${job.id} failed: ${said}`, {
    hint: "Fix what the message names and submit the file again, or contact the service's support with the job id.",
    facts: { job: job.id, errors },
  });
}

/** A job that the service does not know, and what explains that: when its upload address expires, where it is known. */
export function missingError(
  id: string,
  known?: { readonly expiresAt: number; readonly now: number },
): SvcError {
  const facts = { job: id };
  const tenant = 'that the key belongs to the tenant that owns the job';
  if (known === undefined)
    return new SvcError(
      'job_expired',
      `job ${id} not found (jobs are deleted if no file is uploaded within an hour)`,
      {
        status: 404,
        hint: `Check the id with 'svc au list', and ${tenant}.`,
        facts,
      },
    );
  const { expiresAt, now } = known;
  const age = formatDuration(Math.max(0, now - expiresAt + UPLOAD_LIFE_MS));
  if (now < expiresAt)
    return new SvcError(
      'not_found',
      `job ${id} was created ${age} ago and is not found: the service may lag behind`,
      {
        status: 404,
        retryable: true,
        hint: `Try again in a minute with 'svc au status ${id}'; if it stays so, check ${tenant}.`,
        facts,
      },
    );
  return new SvcError(
    'job_expired',
    `job ${id} was created ${age} ago and is gone: it got no file within its hour`,
    {
      status: 404,
      hint: `Check ${tenant}; if it is, nothing was processed for this job.`,
      facts,
    },
  );
}

function foreignError({ message, status, requestId }: SvcError): SvcError {
  return new SvcError('bad_response', message, {
    status,
    requestId,
    hint: 'Check the base URL; if it is right, something between you and the service is answering.',
  });
}

/** What following a run's jobs needs. */
export interface RunWork extends RunOptions {
  readonly client: Client;
  readonly record: RunRecord;
  /** Puts the record on disk; called before and after every act that must not happen twice. */
  readonly save: () => void;
}

/** What bringing one part to a job needs. */
export interface PartWork extends RunWork {
  readonly part: RunPart;
  readonly source: UploadSource;
  /** Polls an upload that an earlier process left in doubt once, and does not wait for its end. */
  readonly pollOnce?: boolean | undefined;
}

/** Its job is gone without a file, or failed: the part may have another one. */
export function detachJob({ part, save }: Pick<PartWork, 'part' | 'save'>, ended: EarlierJob['ended']): void {
  if (part.job !== undefined) part.earlier_jobs = [...(part.earlier_jobs ?? []), { job: part.job, ended }];
  delete part.job;
  delete part.errors;
  delete part.seen;
  delete part.sent;
  delete part.sent_at;
  delete part.expires_at;
  delete part.missing_since;
  delete part.done_at;
  part.state = 'planned';
  save();
}
