// Uploads a request file to its job, and polls the job if the response is unclear.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { AddressRefused, UploadUnclear } from '../../client/transfer/store-errors.ts';
import { type AddressSource, requireKnownHeaders, requireStoreAddress } from '../../client/transfer/address.ts';
import { uploadFile } from '../../client/transfer/upload.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import { endError, findJob, pollReporter, readJob, type JobOptions } from './job.ts';

const MAX_TRIES = 4;

/** The errors of polls that got no response. */
const NO_RESPONSE = ['timeout', 'network', 'server', 'rate_limited', 'bad_response'] as const;

/** The responses of a store that has a file at the address already. */
const HAS_FILE: ReadonlySet<number | undefined> = new Set([409, 412]);

/** How long to poll a job for a file that may be in the store. */
const UNCLEAR_MS = 10 * MINUTE_MS;

interface PutOptions extends JobOptions {
  /** Called as `onSent` of an upload, and with `refused` when the store had a file already. */
  readonly onSent?: ((sent: 'some' | 'all' | 'refused') => void) | undefined;
}

/**
 * Uploads a request file to its job, once. If the store may have the file, polls the job and sends nothing again (R36).
 * @throws SvcError `outcome_unknown` if the job does not show the file, or has one although the store refused this one;
 *   `job_expired` if the job had expired before
 */
export async function uploadToJob(
  client: Client,
  job: AccountUpdaterJob,
  source: UploadSource,
  options: PutOptions = {},
): Promise<void> {
  try {
    await putFile(client, job, source, options);
  } catch (error) {
    if (!(error instanceof UploadUnclear)) throw error;
    if (HAS_FILE.has(error.status)) {
      options.onSent?.('refused');
      throw mayBeAnotherFile(job.id, error.status);
    }
    options.onEvent?.({ kind: 'unclear', job: job.id, reason: error.message });
    await requireArrived(client, job.id, error, options);
  }
}

/** Polls a job until it shows the file that it may have. @throws `unclear` if it does not */
export async function requireArrived(
  client: Client,
  job: string,
  unclear: SvcError,
  options: JobOptions = {},
): Promise<void> {
  const polledJob = await pollForFile(client, job, options).catch((error: unknown) => {
    // Without a response, the file may still be in the store.
    if (!isSvcError(error, ...NO_RESPONSE)) throw error;
    return undefined;
  });
  if (polledJob === undefined || polledJob.status === 'pending')
    throw unclear.with({ next: ['au', 'status', job], facts: { job } });
  options.onEvent?.({ kind: 'uploaded', job });
}

/** Returns the error for a job to which an earlier command may have sent the file. */
export function sentBefore(job: string): SvcError {
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: job ${job} may have the file from an earlier upload, and does not show it; nothing was sent now`,
    {
      hint: 'Read the job later. If it is removed without the file, an hour after it was created, submit the file.',
      next: ['au', 'status', job],
      facts: { job },
    },
  );
}

/** Returns the error for a job that has a file, while the store refused this one: a proxy sent it twice, or the file is another. */
export function mayBeAnotherFile(job: string, status?: number): SvcError {
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: job ${job} may have another file, because the store refused this one${status === undefined ? '' : ` (${status})`}`,
    {
      status,
      hint: 'The results of the job show which file it has. If it is another file, submit this one in another cycle.',
      next: ['au', 'resume', job, '--wait'],
      facts: { job },
    },
  );
}

/**
 * Uploads a file to the address of its job. If the store refuses the address, reads the job: it may have a new one (R37).
 * @throws UploadUnclear if the store may have the file, SvcError `outcome_unknown` if the job has a file although the store refused
 *   this one, `job_expired` if the job is gone
 */
async function putFile(
  client: Client,
  job: AccountUpdaterJob,
  source: UploadSource,
  options: PutOptions = {},
): Promise<void> {
  const { onEvent } = options;
  let current = job;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await putOnce(client, current, source, options);
      break;
    } catch (error) {
      if (!(error instanceof AddressRefused) || attempt >= MAX_TRIES) throw error;
      const now = await readJob(client, job.id);
      if (now.status !== 'pending') throw endError(now) ?? mayBeAnotherFile(job.id, error.status);
      // The job has no newer address, so the store refused this one for another reason than its age.
      if (now.upload_url === current.upload_url) throw error;
      current = now;
    }
  }
  onEvent?.({ kind: 'uploaded', job: job.id });
}

async function putOnce(
  client: Client,
  job: AccountUpdaterJob,
  source: UploadSource,
  { onEvent, onSent }: PutOptions,
): Promise<void> {
  const url = uploadAddress(job, client);
  const { transport, clock, signal, maxWaitMs } = client;
  await uploadFile({
    transport,
    clock,
    signal,
    maxWaitMs,
    url,
    source,
    onProgress: ({ done }) => onEvent?.({ kind: 'uploading', job: job.id, done, total: source.size }),
    onSent,
  });
}

/**
 * Polls a job for a file that may have been sent to it, for at most ten minutes and within the client's time limit.
 * Returns the job as last seen; undefined if the service does not know it.
 */
async function pollForFile(
  client: Client,
  id: string,
  { onEvent }: JobOptions,
): Promise<AccountUpdaterJob | undefined> {
  const poll = async (): Promise<Poll> => ({ job: await findJob(client, id) });
  const isDone = ({ job }: Poll): boolean => job !== undefined && job.status !== 'pending';
  const report = pollReporter<Poll>(client, id, onEvent, ({ job }) => ({ status: job?.status ?? 'not found' }));
  const { seen } = await pollUntil(client, { poll, isDone, limitMs: () => UNCLEAR_MS, onPoll: report });
  return seen.job;
}

interface Poll {
  /** The job; undefined if the service does not know it. */
  readonly job: AccountUpdaterJob | undefined;
}

/** Returns the upload address of a pending job. @throws SvcError for a missing or unsafe address */
export function uploadAddress(job: AccountUpdaterJob, service: AddressSource): URL {
  if (job.upload_url) {
    const url = requireStoreAddress(job.upload_url, job.id, service);
    requireKnownHeaders(url, job.id);
    return url;
  }
  const facts = { job: job.id, job_status: job.status };
  if (job.status === 'pending')
    throw new SvcError('bad_response', `job ${job.id} is pending but came without an upload address`, {
      next: ['au', 'status', job.id],
      facts,
    });
  throw new SvcError('conflict', `job ${job.id} is ${job.status}: it has its file already, nothing was uploaded`, {
    hint: `${job.status === 'completed' ? 'Download its results' : 'Wait for it'}, or submit the file as a new job.`,
    next: job.status === 'completed' ? ['au', 'download', job.id] : ['au', 'resume', job.id, '--wait'],
    alternatives: [['au', 'submit', '<file>']],
    facts,
  });
}
