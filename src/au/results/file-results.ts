import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { fileSource } from '../../client/transfer/source.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import type { JobResults, RowsOfJob } from './job-results.ts';
import type { Rereadable } from './reconcile.ts';
import { PartRows, rowNumbersOf } from './rows-of-request.ts';

/** A job with rows of a file. */
export interface FileJob {
  readonly claim: ClaimEntry;
  /** The rows of the file that the job has, in the order of the file. */
  readonly rows: RowsOfJob;
}

/** Tells whether the rows of a claim were sent from this very file. */
export function isOfFile({ claim }: FileJob, { check }: Pick<RequestFile, 'check'>): boolean {
  return claim.file.sha256 === check.sha256;
}

/** Sorts the jobs of a file by the number of the part that each was sent as. */
export function inOrder(jobs: readonly FileJob[]): readonly FileJob[] {
  return jobs.toSorted((a, b) => a.claim.part - b.claim.part);
}

/**
 * Numbers the rows of each job as they are in the file. Returns undefined if the results of the jobs, one after the other, are
 * in the order of the file: then nothing needs memory, and the results stay byte for byte as they are. `joined` is a file with
 * results of several jobs, for those of the jobs that no other file has.
 * @throws SvcError `checksum_mismatch` for a token of such a job that another job has too: results name no merchant
 */
export async function rowNumbers(
  file: Pick<RequestFile, 'check' | 'source'>,
  jobs: readonly (FileJob & Pick<JobResults, 'file'>)[],
  { cycle, joined }: { readonly cycle: string; readonly joined: string | undefined },
): Promise<readonly PartRows[] | undefined> {
  const isJoined = jobs.some((job) => job.file === joined);
  if (!isJoined && (await areSlices(file, jobs))) return undefined;
  const numberOf = await rowNumbersOf(file.source, file.check.rows);
  const found: PartRows[] = [];
  for (const { rows } of jobs) found.push(await PartRows.of([rows.source], rows.count, numberOf));
  for (const [at, job] of jobs.entries())
    if (job.file === joined && (await sharesToken(found[at], jobs.toSpliced(at, 1)))) throw inSeveralJobs(job, cycle);
  return found;
}

async function sharesToken(own: PartRows | undefined, others: readonly FileJob[]): Promise<boolean> {
  for (const { rows } of others)
    for await (const some of readRequest(rows.source.open()))
      if (some.some(({ token }) => own?.has(token) === true)) return true;
  return false;
}

function inSeveralJobs({ claim: { job }, file }: FileJob & Pick<JobResults, 'file'>, cycle: string): SvcError {
  const name = basename(file);
  return new SvcError(
    'checksum_mismatch',
    `the service does not find job ${job}, and ${name} does not show which results are of that job: it has a token that another job has too`,
    {
      hint: `${name} was left as it is. A machine that keeps the results of the job writes all files with the same command. The jobs of the cycle:`,
      next: ['au', 'status', cycle],
      facts: { job, file },
    },
  );
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
