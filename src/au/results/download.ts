import { isSvcError, SvcError } from '../../base/errors.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { countText } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { downloadFile, type DownloadResult } from '../../client/transfer/download.ts';
import type { Flaw, Proof } from '../../client/transfer/receive.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { ObjectMissing, requireStoreAddress } from '../../client/transfer/store.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import { CR, LF } from '../request/request-file.ts';
import { noRows, noUpdates, readResults, type ResultSummary, summarizeResults } from '../result-codes.ts';
import { failedError, type JobOptions, readJob } from '../job/job.ts';
import { reconcile, type Reconciliation, type Rereadable } from './reconcile.ts';
import { onlyResults, type PartRows } from './rows-of-request.ts';

/** What results are checked against. */
export type ResultsChecks = Pick<ResultsOptions, 'rowsSent' | 'request' | 'requested'>;

export interface ResultsOptions extends JobOptions {
  readonly overwrite?: boolean | undefined;
  /** The process that takes the lock against two downloads to one target. Without it, no lock is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  /** The number of rows sent, if known. */
  readonly rowsSent?: number | undefined;
  /** The rows sent, if they are readable. Each result must belong to one of their tokens. */
  readonly request?: Rereadable | undefined;
  /** The same rows by token, if the job may have rows of other files. */
  readonly requested?: PartRows | undefined;
  /** Compares a whole file with what was read of its job before. */
  readonly compareRead?: ((file: string, job: AccountUpdaterJob) => Promise<Flaw | undefined>) | undefined;
  /** Called with a file that was proven and with its job, before the file gets its name. */
  readonly onAccepted?: ((file: string, job: AccountUpdaterJob) => Promise<void>) | undefined;
  /** How long to wait for results that the store does not have yet, in milliseconds. Default: not at all. */
  readonly lateMs?: number | undefined;
  /** Accepts a file that was identical in every attempt but violates one rule. */
  readonly acceptUnproven?: boolean | undefined;
}

/**
 * Downloads the results of a completed job into a file byte for byte. The file appears only once it is proven complete
 * (R59).
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
      const nextMs = Math.min(2_000 * 2 ** look, LONGEST_LOOK_MS, leftMs);
      const status = 'completed, and its results are not in the store yet';
      options.onEvent?.({ kind: 'polled', job, status, nextMs, at: client.now() });
      await clock.sleep(nextMs, signal);
    }
  }
}

/** How long a command that needs results continues to look for those that the store does not have yet. */
export const LATE_MS = 5 * MINUTE_MS;

/** The longest pause before the next look for a result that is late. */
const LONGEST_LOOK_MS = 30_000;

async function downloadNow(
  client: Client,
  job: string,
  target: string,
  options: ResultsOptions,
): Promise<DownloadResult> {
  const { clock, signal, maxWaitMs } = client;
  let found: AccountUpdaterJob | undefined;
  const result = await downloadFile({
    transport: client.transport,
    random: options.random,
    clock,
    signal,
    maxWaitMs,
    host: options.host,
    // The lifetime of an address is undocumented, so the job is read again right before each use.
    address: async () => {
      found = await completedJob(client, job);
      return addressOf(found, client);
    },
    target,
    overwrite: options.overwrite ?? false,
    acceptUnproven: options.acceptUnproven,
    inspect: async (file, proof) => {
      const flaws = await flawsOf(file, proof, options);
      const changed = found && flaws.length === 0 ? await options.compareRead?.(file, found) : undefined;
      return changed ? [changed] : flaws;
    },
    onAccepted: async (file) => {
      if (found) await options.onAccepted?.(file, found);
    },
    onUnproven: (flaws, nextMs) => options.onEvent?.({ kind: 'unproven', job, flaws, nextMs }),
    onProgress: ({ done, total }) => options.onEvent?.({ kind: 'downloading', job, done, total }),
  });
  options.onEvent?.({ kind: 'downloaded', job, path: result.path });
  return result;
}

/** Returns the reasons to doubt a result file, apart from those in its HTTP response. */
export async function flawsOf(file: string, proof: Proof, checks: ResultsChecks): Promise<readonly Flaw[]> {
  const flaws: Flaw[] = [];
  const source = await fileSource(file);
  try {
    const flaw = await flawOfRows(source, checks);
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

/** Counts the results and compares them with the rows sent, reading the file once where they are all of the job's rows. */
async function flawOfRows(
  results: Rereadable,
  { rowsSent, request, requested }: ResultsChecks,
): Promise<Flaw | undefined> {
  if (request && requested === undefined) {
    const found = await reconcile(request, results);
    return rowCountFlaw(found.answered, rowsSent) ?? tokenFlaw(found);
  }
  let rows = 0;
  for await (const batch of readResults(results.open())) rows += batch.length;
  const flaw = rowCountFlaw(rows, rowsSent);
  if (flaw) return flaw;
  return request && requested ? comparedOnly(request, results, requested) : undefined;
}

/** Compares the results of some rows of a job, which may also have results for other rows of a token. */
async function comparedOnly(request: Rereadable, results: Rereadable, requested: PartRows): Promise<Flaw | undefined> {
  const ofRows = onlyResults(results, (token) => requested.has(token));
  return tokenFlaw({ ...(await reconcile(request, ofRows)), duplicates: 0 });
}

function rowCountFlaw(rows: number, rowsSent = Infinity): Flaw | undefined {
  if (rows <= rowsSent) return undefined;
  return { rule: 'row_count', problem: `has ${countText(rows, 'row')}, more than the ${rowsSent} that were sent` };
}

/** Results for other tokens belong to another request, such as another tenant's (R71). */
function tokenFlaw({
  notRequested,
  duplicates,
}: Pick<Reconciliation, 'notRequested' | 'duplicates'>): Flaw | undefined {
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

/** The error for a job that is under way, as its own read says. */
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
  if (job.status === 'failed') throw failedError(job);
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
  // Only the operator accepts results without even a header.
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
  extraColumns: [],
  updates: noUpdates(),
};
