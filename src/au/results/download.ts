import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { moveIntoPlace } from '../../base/files/target.ts';
import { countText } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { downloadFile, type DownloadResult } from '../../client/transfer/download.ts';
import type { Flaw, Proof } from '../../client/transfer/receive.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { requireStoreAddress } from '../../client/transfer/store.ts';
import { CR, LF } from '../request/request-file.ts';
import { failedError, readJob, type RunOptions } from '../run/job.ts';
import { uploadedRows } from '../run/part-source.ts';
import { apply, type Part, type PartResults } from '../run/part.ts';
import { remove } from '../run/prune.ts';
import { isOfPresentJob, type RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { reconcile, type Reconciliation, type Rereadable } from './reconcile.ts';
import { readResults, type ResultSummary, summarizeResults } from './result-codes.ts';
import { applyToRun } from '../run/run.ts';

export interface ResultsOptions extends RunOptions {
  readonly overwrite?: boolean | undefined;
  /** The process that takes the lock against two downloads to one target. Without it, no lock is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  /** The number of rows sent, if known. */
  readonly rowsSent?: number | undefined;
  /** The rows sent, if they are readable. Each result must belong to one of their tokens. */
  readonly request?: Rereadable | undefined;
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
  const { clock, signal, maxWaitMs } = client;
  const result = await downloadFile({
    transport: client.transport,
    random: options.random,
    clock,
    signal,
    maxWaitMs,
    host: options.host,
    // The lifetime of an address is undocumented, so the job is read again right before each use.
    address: () => addressOf(client, job),
    target,
    overwrite: options.overwrite ?? false,
    acceptUnproven: options.acceptUnproven,
    inspect: (file, proof) => flawsOf(file, proof, options),
    onUnproven: (flaws, nextMs) => options.onEvent?.({ kind: 'unproven', job, flaws, nextMs }),
    onProgress: ({ done, total }) => options.onEvent?.({ kind: 'downloading', job, done, total }),
  });
  options.onEvent?.({ kind: 'downloaded', job, path: result.path });
  return result;
}

/** Returns the reasons to doubt a result file, apart from those in its HTTP response. */
export async function flawsOf(
  file: string,
  proof: Proof,
  { rowsSent, request }: Pick<ResultsOptions, 'rowsSent' | 'request'>,
): Promise<readonly Flaw[]> {
  const flaws: Flaw[] = [];
  const source = await fileSource(file);
  try {
    let rows = 0;
    for await (const batch of readResults(source.open())) rows += batch.length;
    const flaw = rowCountFlaw(rows, rowsSent) ?? (request && tokenFlaw(await reconcile(request, source)));
    if (flaw) flaws.push(flaw);
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    flaws.push({ rule: 'columns', problem: `is not a result file (${error.message})` });
  }
  const isLengthKnown = proof === 'md5' || proof === 'length';
  if (!isLengthKnown && ![LF, CR].includes(await lastByteOf(file)))
    flaws.push({ rule: 'end', problem: 'ends within a line' });
  return flaws;
}

function rowCountFlaw(rows: number, rowsSent = Infinity): Flaw | undefined {
  if (rows <= rowsSent) return undefined;
  return { rule: 'row_count', problem: `has ${countText(rows, 'row')}, more than the ${rowsSent} that were sent` };
}

/** Results for other tokens belong to another request, such as another tenant's (R71). */
function tokenFlaw({ notRequested, duplicates }: Reconciliation): Flaw | undefined {
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

async function addressOf(client: Client, id: string): Promise<URL> {
  const job = await readJob(client, id);
  if (job.status === 'failed') throw failedError(job);
  if (job.status !== 'completed')
    throw new SvcError('pending', `job ${id} is ${job.status}: it has no results yet`, {
      next: ['au', 'wait', id],
      facts: { job: id, job_status: job.status },
    });
  if (job.download_url) return requireStoreAddress(job.download_url, id, client);
  throw new SvcError('bad_response', `job ${id} is completed but came without a download address`, {
    next: ['au', 'status', id],
    facts: { job: id },
  });
}

/** Counts a result file. Rows that were sent but have no result count as unchanged. */
export async function countResults(
  file: string,
  rowsSent: number,
): Promise<ResultSummary & { readonly unchanged: number }> {
  const summary = await summarizeResults((await fileSource(file)).open());
  return { ...summary, unchanged: Math.max(0, rowsSent - summary.rows) };
}

export function recordResults(run: RunDirectory, part: Part, results: Omit<PartResults, 'file'>): void {
  const file = path.basename(run.resultsFile(part));
  apply(part, { kind: 'downloaded', results: { file, ...ofJob(part), ...results } });
  run.save();
}

/** Names the job of a result file, because another job of the same part has other results. */
export function ofJob({ job }: Part): Pick<PartResults, 'job'> {
  return job === undefined ? {} : { job };
}

/** Accepts unproven results that were kept, on the operator's responsibility. */
export async function acceptUnproven(run: RunDirectory): Promise<void> {
  for (const part of run.record.parts) {
    const { unproven, state } = part;
    const hasEnded = state === 'completed' || state === 'downloaded' || state === 'failed';
    if (unproven === undefined || !hasEnded || !isOfPresentJob(part, unproven)) continue;
    const target = run.resultsFile(part);
    if ((await hashOf(`${target}.unproven`)) !== unproven.sha256) continue;
    moveIntoPlace(`${target}.unproven`, target, true);
    recordResults(run, part, { bytes: unproven.bytes, sha256: unproven.sha256, proof: 'operator' });
  }
  removePartialFiles(run);
}

/**
 * Removes what downloads left in the run's directory for the given parts, by default for parts that have ended. These
 * files may contain tokens, and nothing resumes them. Files that the record names stay, because the operator can still
 * accept them. The caller must have locked the run.
 */
export function removePartialFiles(run: RunDirectory, parts: readonly Part[] = endedParts(run.record)): void {
  const useless = parts.flatMap((part) => {
    const name = path.basename(run.resultsFile(part));
    const downloads = [`${name}.svc-part`, `${name}.svc-part.json`];
    return part.unproven === undefined ? [...downloads, `${name}.unproven`] : downloads;
  });
  const existing = new Set(fs.readdirSync(run.path));
  for (const name of useless) if (existing.has(name)) remove(path.join(run.path, name));
}

function endedParts({ parts }: RunRecord): Part[] {
  return parts.filter(({ state }) => state === 'downloaded' || state === 'failed');
}

/** Marks all results for another download. Existing files are replaced only by new results. */
export function refetchResults({ record }: RunDirectory): void {
  for (const part of record.parts) if (part.state === 'downloaded') apply(part, { kind: 'wanted again' });
}

/**
 * Marks results for another download if they have changed or if an earlier version accepted them without enough checks.
 */
export async function invalidateResults(run: RunDirectory): Promise<void> {
  const { record } = run;
  for (const part of record.parts.filter(({ state }) => state === 'downloaded')) {
    const { results } = part;
    const isKept = await isIntact(run, part);
    if (isKept && isChecked(results)) continue;
    const request = await uploadedRows(part, run);
    const flaws = isKept ? await flawsOf(run.resultsFile(part), 'none', { rowsSent: part.rows, request }) : [];
    // A missing line end is harmless in a file whose length was proven.
    const isSound = flaws.every(({ rule }) => rule === 'end' && results?.proof !== undefined);
    if (isKept && isSound) apply(part, { kind: 'checked', compared: request !== undefined });
    else {
      // A file without its last line end may be complete, so it is kept until another download replaces it.
      apply(part, { kind: 'spoiled', usable: isKept && flaws.every(({ rule }) => rule === 'end') });
      applyToRun(record, { kind: 'spoiled' });
    }
    run.save();
  }
  removePartialFiles(run);
}

/** Tells whether the operator accepted the results, or they were proven complete and compared as far as possible. */
function isChecked(results: PartResults | undefined): boolean {
  if (results?.proof === 'operator') return true;
  return results?.proof !== undefined && results.compared !== undefined;
}

/** Tells whether the run has results from an early version that did not prove them complete. */
export function hasUnchecked({ parts }: Pick<RunRecord, 'parts'>): boolean {
  return parts.some(({ state, results }) => state === 'downloaded' && results?.proof === undefined);
}

export async function isIntact(run: RunDirectory, part: Part): Promise<boolean> {
  const { results } = part;
  return results !== undefined && (await hashOf(run.resultsFile(part))) === results.sha256;
}

/** Returns the SHA-256 of a file in hexadecimal; undefined if the file cannot be read. */
export async function hashOf(file: string): Promise<string | undefined> {
  return hashFile(file).catch(() => undefined);
}
