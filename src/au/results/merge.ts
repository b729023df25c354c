import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { Draft, type Sealed } from '../../base/files/draft.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { LF } from '../request/request-file.ts';
import { readResults } from '../result-codes.ts';
import type { ResultsFile } from '../run/part.ts';
import { refuseRequests } from '../run/own-requests.ts';
import { partsByJob, type PartsOfJob, rowsIn, type RunRecord } from '../run/record.ts';
import { applyToRun } from '../run/run.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { countResults, lastByteOf } from './download.ts';
import { extraColumns, mergedInOrder, resultLine } from './merge-in-order.ts';
import { rowsOfParts } from './rows-of-job.ts';
import { PartRows, rowNumbersOf } from './rows-of-request.ts';

export interface MergeOptions {
  readonly overwrite: boolean;
  /** The mark of the drafts of a run, which a caller that has not locked a run leaves out: crashes leave at most one draft. */
  readonly mark?: string | undefined;
  /** The rows of each part, which have their order, if the parts are not slices of the request. */
  readonly rows?: readonly PartRows[] | undefined;
  /** Called when the draft is complete and flushed to disk, before it gets its final name. */
  readonly onWhole?: ((merged: Sealed) => void) | undefined;
}

/**
 * Merges the results of all parts into one file, in the order of the input. Writes the complete file or nothing. Parts
 * with identical headers are joined byte for byte. Otherwise the file has the columns of all parts, by name.
 */
export async function mergeResults(
  parts: readonly string[],
  target: string,
  { overwrite, mark, rows, onWhole }: MergeOptions,
): Promise<Sealed> {
  const draft = await Draft.begin(target, mark);
  try {
    const pieces = rows ? mergedInOrder(parts, rows) : inPlace(parts);
    for await (const piece of pieces) await draft.write(piece);
    onWhole?.(await draft.seal());
    return await draft.finish(overwrite);
  } finally {
    await draft.discard();
  }
}

async function* inPlace(parts: readonly string[]): AsyncGenerator<Uint8Array | string> {
  const headers = await Promise.all(parts.map((part) => headerOf(part)));
  const isSame = headers.every((header) => header.equals(headers[0] ?? header));
  yield* isSame ? joined(parts) : united(parts);
}

async function headerOf(file: string): Promise<Buffer> {
  for await (const chunk of (await fileSource(file)).open()) {
    const end = chunk.indexOf(LF);
    return Buffer.from(end === -1 ? chunk : chunk.subarray(0, end + 1));
  }
  return Buffer.alloc(0);
}

async function* joined(parts: readonly string[]): AsyncGenerator<Uint8Array> {
  let endsLine = true;
  for (const [index, part] of parts.entries()) {
    let inHeader = index > 0;
    for await (const chunk of (await fileSource(part)).open()) {
      const rest = inHeader ? behindHeader(chunk) : chunk;
      inHeader = false;
      if (rest.byteLength === 0) continue;
      if (!endsLine) yield Uint8Array.of(LF);
      yield rest;
      // A line end can be missing only between two parts.
      endsLine = true;
    }
    endsLine = (await lastByteOf(part)) === LF;
  }
}

function behindHeader(chunk: Uint8Array): Uint8Array {
  const end = chunk.indexOf(LF);
  return end === -1 ? new Uint8Array() : chunk.subarray(end + 1);
}

async function* united(parts: readonly string[]): AsyncGenerator<string> {
  const extra = await extraColumns(parts);
  yield csvRow([...RESULT_COLUMNS, ...extra]);
  for (const part of parts) {
    for await (const rows of readResults((await fileSource(part)).open())) {
      yield rows.map((row) => resultLine(row, extra)).join('');
    }
  }
}

export interface Destination {
  readonly out: string;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
}

/** The name of merged results in the run's directory. */
const KEPT = 'results.csv';

/**
 * Writes the results of all parts into one file, in the order of the input. Keeps an existing file that the run wrote
 * and nobody changed, or replaces it if the results have changed. For a pipe or a device, writes the results into the
 * run's directory for a later copy.
 */
export async function writeResults(run: RunDirectory, { out, force }: Destination): Promise<ResultsFile> {
  const { record } = run;
  const own = force ? undefined : await ownResults(record, out);
  if (own && own === record.results) return recordResults(run, { ...own, file: path.resolve(out) });
  const overwrite = force || own !== undefined;
  const target = await inspectTarget(out, overwrite);
  return target.kind === 'file' ? merge(run, target.path, overwrite) : keepResults(run);
}

/** Writes the results into the run's directory. */
export function keepResults(run: RunDirectory): Promise<ResultsFile> {
  return merge(run, keptResultsOf(run), true);
}

/** Returns the path of merged results in the run's directory. */
export function keptResultsOf({ path: directory }: Pick<RunDirectory, 'path'>): string {
  return path.join(directory, KEPT);
}

/**
 * Checks the destination before any request. Accepts an existing result file that this run wrote, and never its request
 * file.
 */
export async function checkDestination(
  context: Pick<Context, 'system'>,
  run: RunDirectory | undefined,
  { out, force }: Destination,
): Promise<void> {
  const record = run?.record;
  refuseRequests(context, { '--out': out }, run ? [run] : []);
  if (!record || !(await ownResults(record, out))) await inspectTarget(out, force);
}

async function merge(run: RunDirectory, file: string, overwrite: boolean): Promise<ResultsFile> {
  const { record } = run;
  // Some parts of an abandoned run may have no results.
  const parts = record.parts.filter(({ state }) => state === 'downloaded');
  const jobs = partsByJob(parts);
  const files = jobs.map(([part]) => run.resultsFile(part));
  const target = path.resolve(file);
  // Parts that were divided, or have the jobs of other runs, are not in the order of the request.
  const isDivided = parts.some((part) => part.rows_file !== undefined);
  const merged = await mergeResults(files, target, {
    overwrite,
    mark: record.id,
    rows: isDivided ? await rowsOf(run, jobs) : undefined,
    onWhole: (whole) => {
      applyToRun(record, { kind: 'writing', file: { file: target, ...whole } });
      run.save();
    },
  });
  return recordResults(run, { file: target, ...merged });
}

/** Numbers the rows of each job as they are in the request. @throws SvcError `local` without a sound copy of the request */
async function rowsOf(run: RunDirectory, jobs: readonly PartsOfJob[]): Promise<readonly PartRows[]> {
  const whole = await fileSource(await wholeRequest(run));
  const numberOf = await rowNumbersOf(whole, run.record.input.rows);
  const found: PartRows[] = [];
  // A part whose rows are damaged may have any row of the request.
  for (const parts of jobs)
    found.push(await PartRows.of([(await rowsOfParts(run, parts)) ?? whole], rowsIn(parts), numberOf));
  return found;
}

/** Returns the run's copy of its request, which says which rows are wanted. @throws SvcError `local` without a sound one */
async function wholeRequest({ record, requestFile, submitWords }: RunDirectory): Promise<string> {
  const { name, sha256 } = record.input;
  if (requestFile !== undefined && (await hashIfReadable(requestFile)) === sha256) return requestFile;
  throw new SvcError(
    'local',
    `the copy of ${name} that ${record.id} keeps is ${requestFile === undefined ? 'gone' : 'damaged'}, so it is not known which results are those of its rows`,
    {
      hint: 'The results of its jobs were downloaded. Submit the same file again: the run takes another copy of it.',
      next: submitWords,
      facts: { run: record.id },
    },
  );
}

/** Records merged results and their counts by class, for a comparison with the next cycle. */
async function recordResults(run: RunDirectory, results: ResultsFile): Promise<ResultsFile> {
  const { record } = run;
  applyToRun(record, { kind: 'delivered', file: results });
  run.save();
  try {
    const { updated, warned, errors } = await countResults(results.file, record.input.rows);
    applyToRun(record, { kind: 'counted', counts: { updated, warned, errors } });
    run.save();
  } catch (error) {
    // Results that the operator accepted as unproven may not be a valid CSV table.
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
  }
  return results;
}

/**
 * Returns the recorded facts about a file that is byte for byte the merged results of this run; undefined for other
 * files.
 */
async function ownResults({ results, writing }: RunRecord, file: string): Promise<ResultsFile | undefined> {
  if (!results && !writing) return undefined;
  const hash = await hashIfReadable(file);
  return [results, writing].find((known) => known?.sha256 === hash);
}
