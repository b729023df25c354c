import { createHash } from 'node:crypto';
import { fileSource } from '../../client/transfer/source.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import type { RowsOfJob } from './job-results.ts';
import type { Rereadable } from './reconcile.ts';
import { PartRows, rowNumbersOf } from './rows-of-request.ts';

/** A job with rows of a file. */
export interface FileJob {
  readonly claim: ClaimEntry;
  /** The rows of the file that the job has, in the order of the file. */
  readonly rows: RowsOfJob;
}

/** Sorts the jobs of a file by the number of the part that each was sent as. */
export function inOrder(jobs: readonly FileJob[]): readonly FileJob[] {
  return jobs.toSorted((a, b) => a.claim.part - b.claim.part);
}

/**
 * Numbers the rows of each job as they are in the file. Returns undefined if the results of the jobs, one after the other, are
 * in the order of the file: then nothing needs memory, and the results stay byte for byte as they are.
 */
export async function rowNumbers(
  file: Pick<RequestFile, 'check' | 'source'>,
  jobs: readonly FileJob[],
): Promise<readonly PartRows[] | undefined> {
  if (await areSlices(file, jobs)) return undefined;
  const numberOf = await rowNumbersOf(file.source, file.check.rows);
  const found: PartRows[] = [];
  for (const { rows } of jobs) found.push(await PartRows.of([rows.source], rows.count, numberOf));
  return found;
}

/** Tells whether some jobs have all rows of a file, and no others, one slice after the other. */
async function areSlices(
  { check, source }: Pick<RequestFile, 'check' | 'source'>,
  jobs: readonly FileJob[],
): Promise<boolean> {
  const [first] = jobs;
  if (jobs.length === 1) return first?.claim.sha256 === check.sha256;
  const isWhole = jobs.every(({ claim, rows }) => claim.file.sha256 === check.sha256 && claim.rows === rows.count);
  const count = jobs.reduce((sum, { rows }) => sum + rows.count, 0);
  if (!isWhole || count !== check.rows) return false;
  return (await linesHash([source])) === (await linesHash(jobs.map(({ rows }) => rows.source)));
}

async function linesHash(sources: readonly Rereadable[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources)
    for await (const rows of readRequest(source.open())) hash.update(rows.map(({ line }) => `${line}\n`).join(''));
  return hash.digest('hex');
}

/** Returns the rows of a private file as those of a job. */
export async function rowsIn({
  path,
  check,
}: {
  readonly path: string;
  readonly check: { readonly rows: number };
}): Promise<RowsOfJob> {
  return { source: await fileSource(path), count: check.rows };
}
