// Downloads the results of a job, and keeps a file only if it is proven whole.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { countText } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { downloadFile, type DownloadResult } from '../../client/transfer/download.ts';
import type { Flaw, Proof } from '../../client/transfer/receive.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { ObjectMissing } from '../../client/transfer/store-errors.ts';
import { requireStoreAddress } from '../../client/transfer/address.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import { CR, LF } from '../request/request-file.ts';
import { noRows, noUpdates, readResults, type ResultSummary, summarizeResults } from '../result-codes.ts';
import { endError, type JobOptions, readJob } from '../job/job.ts';
import { reconcile, type Reconciliation, type Rereadable } from './reconcile.ts';

/** The rows that results are checked against. */
export type ResultsChecks = Pick<ResultsOptions, 'rowsSent' | 'request'>;

export interface ResultsOptions extends JobOptions {
  readonly overwrite?: boolean | undefined;
  /** The process that locks the target against a second download. Without it, no lock is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  /** The number of rows in the job, if known. */
  readonly rowsSent?: number | undefined;
  /** All rows in the job, if this machine has them. Each result must have the token of one of them. */
  readonly request?: Rereadable | undefined;
  /** Compares a whole file with earlier results of the job. */
  readonly compareRead?: ((file: string, job: AccountUpdaterJob) => Promise<Flaw | undefined>) | undefined;
  /** Called with a proven file and its job, before the file gets its name. */
  readonly onAccepted?: ((file: string, job: AccountUpdaterJob) => Promise<void>) | undefined;
  /** How long to wait for results that the store does not have yet, in milliseconds. Default: 0. */
  readonly lateMs?: number | undefined;
  /** Accepts a file that violates one rule, if every attempt got the same bytes. */
  readonly acceptUnproven?: boolean | undefined;
}

/**
 * Downloads the results of a completed job byte for byte. The file appears only once it is proven complete (R59).
 * @throws SvcError `job_expired`, `job_failed`, `pending` for a job that is not completed, and the errors of the
 *   transfer
 */
export async function downloadResults(
  client: Client,
  job: string,
  target: string,
  options: ResultsOptions = {},
): Promise<DownloadResult> {
  const { clock, signal } = client;
  const begun = clock.now();
  for (let look = 0; ; look += 1) {
    try {
      return await downloadNow(client, job, target, options);
    } catch (error) {
      const leftMs = begun + (options.lateMs ?? 0) - clock.now();
      if (!(error instanceof ObjectMissing) || leftMs <= 0) throw error;
      const nextMs = Math.min(2_000 * 2 ** look, MAX_LOOK_PAUSE_MS, leftMs);
      const status = 'completed, and its results are not in the store yet';
      options.onEvent?.({ kind: 'polled', job, status, nextMs, at: client.now() });
      await clock.sleep(nextMs, signal);
    }
  }
}

/** How long a command waits for results that the store does not have yet. */
export const LATE_MS = 5 * MINUTE_MS;

/** The longest pause between two looks for late results. */
const MAX_LOOK_PAUSE_MS = 30_000;

async function downloadNow(
  client: Client,
  job: string,
  target: string,
  options: ResultsOptions,
): Promise<DownloadResult> {
  const { clock, signal, maxWaitMs } = client;
  let downloadedJob: AccountUpdaterJob | undefined;
  const result = await downloadFile({
    transport: client.transport,
    clock,
    signal,
    maxWaitMs,
    host: options.host,
    // The lifetime of an address is undocumented, so each attempt reads the job again.
    address: async () => {
      downloadedJob = await completedJob(client, job);
      return addressOf(downloadedJob, client);
    },
    target,
    overwrite: options.overwrite ?? false,
    acceptUnproven: options.acceptUnproven,
    inspect: async (file, proof) => {
      const flaws = await findFlaws(file, proof, options);
      if (flaws.length > 0 || downloadedJob === undefined) return flaws;
      const loss = await options.compareRead?.(file, downloadedJob);
      return loss ? [loss] : [];
    },
    onAccepted: async (file) => {
      if (downloadedJob) await options.onAccepted?.(file, downloadedJob);
    },
    onUnproven: (flaws, nextMs) => options.onEvent?.({ kind: 'unproven', job, flaws, nextMs }),
    onProgress: ({ done, total }) => options.onEvent?.({ kind: 'downloading', job, done, total }),
  });
  options.onEvent?.({ kind: 'downloaded', job, path: result.path });
  return result;
}

/** Returns the reasons in the content of a result file to doubt that it is whole and belongs to the job. */
export async function findFlaws(file: string, proof: Proof, checks: ResultsChecks): Promise<readonly Flaw[]> {
  const flaws: Flaw[] = [];
  const source = await fileSource(file);
  try {
    const flaw = await findRowFlaw(source, checks);
    if (flaw) flaws.push(flaw);
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    flaws.push({ rule: 'columns', problem: `is not a result file (${error.message})` });
  }
  const isLengthKnown = proof === 'md5' || proof === 'length' || proof === 'gzip';
  if (!isLengthKnown && ![LF, CR].includes(await lastByteOf(file)))
    flaws.push({ rule: 'end', problem: 'ends within a line' });
  return flaws;
}

/** Compares the number of results, and their tokens if possible, with the rows of the job. */
async function findRowFlaw(results: Rereadable, { rowsSent, request }: ResultsChecks): Promise<Flaw | undefined> {
  if (request) {
    const comparison = await reconcile(request, results);
    return rowCountFlaw(comparison.answered, rowsSent) ?? tokenFlaw(comparison);
  }
  let rows = 0;
  for await (const batch of readResults(results.open())) rows += batch.length;
  return rowCountFlaw(rows, rowsSent);
}

function rowCountFlaw(rows: number, rowsSent = Infinity): Flaw | undefined {
  if (rows <= rowsSent) return undefined;
  return { rule: 'row_count', problem: `has ${countText(rows, 'row')}, more than the ${rowsSent} that were sent` };
}

/** Results for other tokens belong to another request, such as another tenant's (R71). */
function tokenFlaw({
  not_requested: notRequested,
  duplicates,
}: Pick<Reconciliation, 'not_requested' | 'duplicates'>): Flaw | undefined {
  const problems = [
    notRequested > 0 ? `${countText(notRequested, 'row')} for tokens that were not requested` : [],
    duplicates > 0 ? `${countText(duplicates, 'row')} for tokens that were returned more often than requested` : [],
  ].flat();
  return problems.length === 0 ? undefined : { rule: 'tokens', problem: `has ${problems.join(' and ')}` };
}

/** Returns the last byte of a file, or a line feed for an empty file. */
export async function lastByteOf(file: string): Promise<number> {
  const { size } = await fileSource(file);
  const end = await fileSource(file, { start: Math.max(0, size - 1) });
  for await (const [last = LF] of end.open()) return last;
  return LF;
}

/** The error for a completed job without a download address. */
export class NoAddress extends SvcError {}

/** The error for a job that a read shows as not completed. */
export class NotCompleted extends SvcError {
  readonly job: AccountUpdaterJob;

  constructor(job: AccountUpdaterJob) {
    const { id, status } = job;
    super('pending', `job ${id} is ${status}: it has no results yet`, {
      next: ['au', 'resume', id, '--wait'],
      facts: { job: id, job_status: status },
    });
    this.job = job;
  }
}

async function completedJob(client: Client, id: string): Promise<AccountUpdaterJob> {
  const job = await readJob(client, id);
  const ended = endError(job);
  if (ended) throw ended;
  if (job.status === 'completed') return job;
  throw new NotCompleted(job);
}

function addressOf({ id, download_url: address }: AccountUpdaterJob, client: Client): URL {
  if (address) return requireStoreAddress(address, id, client);
  throw new NoAddress('bad_response', `job ${id} is completed but came without a download address`, {
    next: ['au', 'status', id],
    facts: { job: id },
  });
}

/** Counts a result file. Rows that were sent but have no result count as unchanged. */
export async function countResults(
  file: string,
  rowsSent: number,
): Promise<ResultSummary & { readonly unchanged: number }> {
  const source = await fileSource(file);
  // An empty file has no header to read. Only the operator can accept such results.
  const summary = source.size === 0 ? EMPTY : await summarizeResults(source.open());
  return { ...summary, unchanged: Math.max(0, rowsSent - summary.rows) };
}

const EMPTY: ResultSummary = {
  rows: 0,
  updated: 0,
  warned: 0,
  errors: 0,
  unknown: 0,
  groups: noRows(),
  codes: [],
  extra_columns: [],
  updates: noUpdates(),
};
