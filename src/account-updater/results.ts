import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import type { LockHost } from '../files/lock.ts';
import { downloadFile, type DownloadResult } from '../transfer/download.ts';
import type { Flaw, Proof } from '../transfer/receive.ts';
import { fileSource, type UploadSource } from '../transfer/source.ts';
import { requireStoreAddress } from '../transfer/store.ts';
import { failedError, readJob, type RunOptions } from './job.ts';
import { readResults } from './read-results.ts';
import { type ResultSummary, summarizeResults } from './result-codes.ts';

/** How to download. */
export interface ResultsOptions extends RunOptions {
  readonly overwrite?: boolean | undefined;
  /** The process, for the lock that keeps two downloads of one target apart; without it none is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  /** How many rows were sent, where that is known. */
  readonly rowsSent?: number | undefined;
  /** Takes bytes that came the same each time although one rule speaks against them. */
  readonly acceptUnproven?: boolean | undefined;
}

/**
 * Downloads the results of a completed job into a file, byte for byte, and only once they are proven whole (R59).
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
    acceptUnproven: options.acceptUnproven,
    inspect: (file, proof) => flawsOf(file, proof, options.rowsSent),
    onUnproven: (flaws, nextMs) => options.onEvent?.({ kind: 'unproven', job, flaws, nextMs }),
    onProgress: ({ done, total }) => options.onEvent?.({ kind: 'downloading', job, done, total }),
  });
  options.onEvent?.({ kind: 'downloaded', job, path: result.path });
  return result;
}

/** What speaks against a result file, beyond what its response shows. */
export async function flawsOf(
  file: string,
  proof: Proof,
  rowsSent: number | undefined,
): Promise<readonly Flaw[]> {
  const flaws: Flaw[] = [];
  const source = await fileSource(file);
  try {
    const rows = await countRows(source);
    if (rowsSent !== undefined && rows > rowsSent)
      flaws.push({
        rule: 'row_count',
        problem: `has ${rows} rows, more than the ${rowsSent} that were sent`,
      });
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    flaws.push({ rule: 'columns', problem: `is not a result file (${error.message})` });
  }
  const isLengthKnown = proof === 'md5' || proof === 'length';
  if (!isLengthKnown && source.size > 0 && !(await endsLine(file, source.size)))
    flaws.push({ rule: 'end', problem: 'ends within a line' });
  return flaws;
}

async function countRows(source: UploadSource): Promise<number> {
  let count = 0;
  for await (const rows of readResults(source.open())) count += rows.length;
  return count;
}

async function endsLine(file: string, size: number): Promise<boolean> {
  for await (const [last] of (await fileSource(file, { start: size - 1 })).open())
    return last === LF || last === CR;
  return false;
}

const LF = 10;
const CR = 13;

async function addressOf(client: Client, id: string): Promise<URL> {
  const job = await readJob(client, id);
  if (job.status === 'failed') throw failedError(job);
  if (job.status !== 'completed') {
    throw new SvcError('pending', `job ${id} is ${job.status}: it has no results yet`, {
      next: ['au', 'wait', id],
      facts: { job: id, job_status: job.status },
    });
  }
  if (job.download_url) return requireStoreAddress(job.download_url, id, client);
  throw new SvcError('bad_response', `job ${id} is completed but came without a download address`, {
    next: ['au', 'status', id],
    facts: { job: id },
  });
}

/** Counts a result file; rows that were sent and are not in it are unchanged. */
export async function countResults(
  file: string,
  rowsSent: number,
): Promise<ResultSummary & { readonly unchanged: number }> {
  const summary = await summarizeResults((await fileSource(file)).open());
  return { ...summary, unchanged: Math.max(0, rowsSent - summary.rows) };
}
