import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { type AddressSource, requireStoreAddress } from '../transfer/addresses.ts';
import { AddressExpired, UploadUnclear } from '../transfer/failures.ts';
import type { UploadSource } from '../transfer/source.ts';
import { uploadFile } from '../transfer/upload.ts';
import type { RunOptions } from './events.ts';
import { readJob } from './job.ts';

const MAX_TRIES = 4;
const LOOKS_AFTER_UNCLEAR = 3;
const LOOK_PAUSE_MS = 2_000;

/**
 * Brings a request file to its job, once. When it is unclear whether the store has it, the job is read before
 * anything is sent again (R36); when the address has expired, the job is read for a new one (R37).
 * @throws SvcError `job_expired` when the job is gone: it had no file, so another one may be made
 */
export async function uploadToJob(
  client: Client,
  job: AccountUpdaterJob,
  source: UploadSource,
  options: RunOptions = {},
): Promise<void> {
  let current = job;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await putOnce(client, current, source, options);
      options.onEvent?.({ kind: 'uploaded', job: job.id });
      return;
    } catch (error) {
      const next = await afterFailure(error, client, current, options);
      if (next === 'uploaded') return options.onEvent?.({ kind: 'uploaded', job: job.id });
      if (attempt >= MAX_TRIES) throw error;
      current = next;
    }
  }
}

async function putOnce(
  client: Client,
  job: AccountUpdaterJob,
  source: UploadSource,
  options: RunOptions,
): Promise<void> {
  await uploadFile({
    transport: client.transport,
    clock: client.clock,
    signal: client.signal,
    maxWaitMs: client.maxWaitMs,
    random: options.random,
    url: uploadAddress(job, client),
    source,
    onProgress: ({ done }) => options.onEvent?.({ kind: 'uploading', job: job.id, done, total: source.size }),
  });
}

/** Reads the job to find out where things stand: it has its file, or may be given it once more. */
async function afterFailure(
  error: unknown,
  client: Client,
  job: AccountUpdaterJob,
  options: RunOptions,
): Promise<AccountUpdaterJob | 'uploaded'> {
  if (error instanceof UploadUnclear) {
    options.onEvent?.({ kind: 'unclear', job: job.id, reason: error.message });
    return lookForFile(job.id, client);
  }
  if (!(error instanceof AddressExpired)) throw error;
  const now = await readJob(client, job.id);
  if (now.status !== 'pending') return 'uploaded';
  // The same address again would be refused again: the store has another reason.
  if (now.upload_url === job.upload_url) throw error;
  return now;
}

/**
 * Looks whether a job has the file that may have been sent to it: `uploaded`, or the job that still waits for one.
 * The store tells the service of a new file, which can take a moment: one look is not enough to call it absent.
 * @throws SvcError `job_expired` when the job is gone
 */
export async function lookForFile(id: string, client: Client): Promise<AccountUpdaterJob | 'uploaded'> {
  for (let look = 1; ; look += 1) {
    await client.clock.sleep(LOOK_PAUSE_MS * look, client.signal);
    const job = await readJob(client, id);
    if (job.status !== 'pending') return 'uploaded';
    if (look >= LOOKS_AFTER_UNCLEAR) return job;
  }
}

/** Where a pending job takes its file. @throws SvcError where it has no such address, or none that is safe to use */
export function uploadAddress(job: AccountUpdaterJob, service: AddressSource): URL {
  if (!job.upload_url) throw noAddressError(job);
  return requireStoreAddress(job.upload_url, job.id, service);
}

function noAddressError(job: AccountUpdaterJob): SvcError {
  if (job.status === 'pending') {
    return new SvcError('bad_answer', `job ${job.id} is pending but came without an upload address`, {
      hint: `Look again with 'svc au status ${job.id}'.`,
      facts: { job: job.id },
    });
  }
  return new SvcError(
    'changed',
    `job ${job.id} is ${job.status}: it has its file already, nothing was uploaded`,
    {
      hint: `Follow it with 'svc au wait ${job.id}', or submit the file as a new job with 'svc au submit'.`,
      facts: { job: job.id, job_status: job.status },
    },
  );
}
