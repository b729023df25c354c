import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import type { LockHost } from '../lock.ts';
import { requireSafeStoreAddress } from '../transfer/addresses.ts';
import { downloadFile, type DownloadResult } from '../transfer/download.ts';
import type { RunOptions } from './events.ts';
import { failedError, readJob } from './job.ts';

/** How to download. */
export interface ResultsOptions extends RunOptions {
  readonly overwrite?: boolean | undefined;
  /** The process, for the lock that keeps two downloads of one target apart; without it none is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
}

/**
 * Downloads the results of a completed job into a file, whole or not at all, byte for byte.
 * @throws SvcError `job_expired`, `job_failed`, `pending` when it is not completed, and those of the transfer
 */
export async function downloadResults(
  client: Client,
  job: string,
  target: string,
  options: ResultsOptions = {},
): Promise<DownloadResult> {
  const { clock, signal, maxWaitMs } = client;
  const result = await downloadFile({
    transport: client.transport,
    random: options.random,
    clock,
    signal,
    maxWaitMs,
    host: options.host,
    // The life of an address is not stated: the job is read again just before each use.
    address: () => addressOf(client, job),
    target,
    overwrite: options.overwrite ?? false,
    onProgress: ({ done, total }) => options.onEvent?.({ kind: 'downloading', job, done, total }),
  });
  options.onEvent?.({ kind: 'downloaded', job, path: result.path });
  return result;
}

async function addressOf(client: Client, id: string): Promise<URL> {
  const job = await readJob(client, id);
  if (job.status === 'failed') throw failedError(job);
  if (job.status !== 'completed') {
    throw new SvcError('pending', `job ${id} is ${job.status}: there are no results yet`, {
      hint: `Wait for it with 'svc au wait ${id}'.`,
      facts: { job: id, job_status: job.status },
    });
  }
  if (job.download_url) return requireSafeStoreAddress(job.download_url);
  throw new SvcError('bad_answer', `job ${id} is completed but came without a download address`, {
    hint: `Look again with 'svc au status ${id}'.`,
    facts: { job: id },
  });
}
