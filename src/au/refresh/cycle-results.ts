import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { spoolFile } from '../request/spool.ts';
import { openSpool } from '../request/spool-output.ts';
import { keepResults, mergeResults } from '../results/merge.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { rowsOfParts } from '../results/rows-of-job.ts';
import { PartRows, rowNumbersOf } from '../results/rows-of-request.ts';
import type { Part } from '../run/part.ts';
import { partsByJob, type RunRecord, statusOf } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { holdRun } from '../run/verdict.ts';
import { cycleRequest, findRequests } from './cycle-request.ts';
import { type RefreshDirectory, runHere } from './refresh-directory.ts';

/** The results of all requests of a cycle that have some. */
export interface CycleResults {
  /** The file with their rows, each once: that of the only request, that of the whole cycle, or a private one. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Returns the files that its rows are from, oldest first. */
  readonly jobs: () => Promise<readonly JobResults[]>;
  /** The hash of each request's own results, by the place of the request. */
  readonly of: ReadonlyMap<number, string>;
  /** Whether a token may have more results than rows: a job of an earlier build may have it for several merchants. */
  readonly mayHaveMore: boolean;
  /** The newest of their runs that is recorded on this machine. */
  readonly record: RunRecord | undefined;
}

/** The results of a job, or those of the whole cycle where a run is not here, and the rows that they may be of. */
export interface JobResults {
  readonly file: string;
  readonly rows: readonly Rereadable[];
}

/** The results of a request whose run is on this machine. */
interface RunResults {
  readonly place: number;
  readonly run: RunDirectory;
  readonly file: string;
  readonly sha256: string;
}

/**
 * Joins the results of the requests of a cycle. Returns undefined if no request has results.
 * @throws SvcError `config` if results that the files of the cycle have are no longer found, `local` if a request is gone
 */
export async function cycleResults(context: Context, directory: RefreshDirectory): Promise<CycleResults | undefined> {
  const { found, lost } = await findResults(context, directory);
  const [first] = found;
  if (first === undefined && lost.length === 0) return undefined;
  const of = new Map(found.map(({ place, sha256 }) => [place, sha256]));
  for (const place of lost) of.set(place, directory.requests[place]?.report_of ?? '');
  const joined = {
    of,
    mayHaveMore: lost.length > 0 || found.some(({ run }) => run.record.parts.some(mayHaveTokenTwice)),
    record: found.at(-1)?.run.record,
  };
  if (lost.length === 0 && found.length === 1 && first)
    return { ...(await sizedFile(first)), jobs: () => resultsByJob(context, directory, found), ...joined };
  const whole = lost.length === 0 ? [] : [await resultsOfCycle(context, directory, lost)];
  const isNew = found.some(({ place, sha256 }) => directory.requests[place]?.report_of !== sha256);
  if (whole[0] && !isNew) return { ...(await sizedFile(whole[0])), jobs: async () => whole, ...joined };
  const jobs = [...whole, ...(await resultsByJob(context, directory, found))];
  const path = await openSpool(context);
  const rows = await numberedRows(context, directory, [...of.keys()], jobs);
  const files = jobs.map(({ file }) => file);
  return { path, ...(await mergeResults(files, path, { overwrite: true, rows })), jobs: async () => jobs, ...joined };
}

async function sizedFile({ file, sha256 }: Pick<RunResults, 'file' | 'sha256'>) {
  return { path: file, sha256, bytes: (await fileSource(file)).size };
}

/** Numbers the rows of each job as they are in the requests of the cycle. */
async function numberedRows(
  context: Context,
  directory: RefreshDirectory,
  places: readonly number[],
  jobs: readonly JobResults[],
): Promise<readonly PartRows[]> {
  const { path, rows } = await cycleRequest(
    context,
    directory,
    places.toSorted((a, b) => a - b),
  );
  const numberOf = await rowNumbersOf(await fileSource(path), rows);
  const numbered: PartRows[] = [];
  for (const job of jobs) numbered.push(await PartRows.of(job.rows, rows, numberOf));
  return numbered;
}

/** Finds the results of each request, and the places of requests whose results only the files of the cycle have. */
async function findResults(context: Context, directory: RefreshDirectory) {
  const found: RunResults[] = [];
  const lost: number[] = [];
  for (const [place, { run: name, report_of: of }] of directory.requests.entries()) {
    const run = name === undefined ? undefined : await runHere(context, name);
    const results = run && (await resultsOfRun(context, run));
    if (run && results) found.push({ place, run, file: results.file, sha256: results.sha256 });
    else if (name !== undefined && of !== undefined) lost.push(place);
  }
  return { found, lost };
}

/** Returns the results that a run keeps, which are written again if they are gone. Undefined while it has none. */
async function resultsOfRun(context: Context, run: RunDirectory) {
  if (statusOf(run.record) !== 'completed') return undefined;
  const { results, pruned_at: pruned } = run.record;
  if (results !== undefined && (await hashIfReadable(results.file)) === results.sha256) return results;
  return pruned === undefined ? holdRun(context, run, () => keepResults(run)) : undefined;
}

/** Returns the results of the jobs of some runs. Several runs may have rows of one job, which has its results once. */
async function resultsByJob(
  context: Context,
  directory: RefreshDirectory,
  found: readonly RunResults[],
): Promise<readonly JobResults[]> {
  const jobs = new Map<string, { readonly file: string; readonly rows: Rereadable[] }>();
  for (const { place, run, file } of found) {
    const requests = (await findRequests(context, directory, [place])) ?? [];
    const whole = await Promise.all(requests.map((path) => fileSource(path)));
    if (run.record.pruned_at !== undefined) jobs.set(run.record.id, { file, rows: whole });
    else
      for (const parts of partsByJob(run.record.parts.filter(({ state }) => state === 'downloaded'))) {
        const [part] = parts;
        const own = await rowsOfParts(run, parts);
        const known = jobs.get(part.job ?? '')?.rows ?? [];
        jobs.set(part.job ?? '', { file: run.resultsFile(part), rows: [...known, ...(own ? [own] : whole)] });
      }
  }
  return [...jobs.values()];
}

/** Returns a copy of the results of the whole cycle, whose file may be replaced before they are read again. */
async function resultsOfCycle(context: Context, directory: RefreshDirectory, lost: readonly number[]) {
  const sha256 = await wholeResults(directory);
  if (sha256 === undefined) throw lostResults(directory, lost[0] ?? 0);
  const copy = await spoolFile(context.system, directory.resolve(directory.results));
  context.onClose(() => copy.remove());
  const reported = [...directory.requests.entries()].flatMap(([place, { report_of: of }]) => (of ? [place] : []));
  const requests = (await findRequests(context, directory, reported)) ?? [];
  return { file: copy.path, sha256, rows: await Promise.all(requests.map((path) => fileSource(path))) };
}

/** Tells whether the job of a part may have a token for several merchants, as jobs of earlier builds do. */
function mayHaveTokenTwice({ joined }: Part): boolean {
  return joined !== undefined && joined.tokens_once !== true;
}

/** Returns the hash of the results of the whole cycle; undefined if their file is not as the refresh wrote it. */
export async function wholeResults(directory: RefreshDirectory): Promise<string | undefined> {
  const { results, steps } = directory;
  const sha256 = await hashIfReadable(directory.resolve(results));
  const isWhole = sha256 !== undefined && steps.reported !== undefined && directory.written(results).includes(sha256);
  return isWhole ? sha256 : undefined;
}

function lostResults(directory: RefreshDirectory, place: number): SvcError {
  const run = directory.requests[place]?.run ?? '<run>';
  const { results } = directory;
  return new SvcError('config', `${results} is not as the refresh wrote it, and the results of ${run} are gone`, {
    hint: 'The files of the cycle were left as they are. Put the file back from a copy, and run the same command again.',
    facts: { file: results, run },
  });
}
