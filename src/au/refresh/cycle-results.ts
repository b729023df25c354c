import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import type { FileResults } from '../jobs/file-jobs.ts';
import type { NamedCycle } from '../ledger/named-cycle.ts';
import { spoolFile } from '../request/spool.ts';
import { openSpool } from '../request/spool-output.ts';
import { mergeResults } from '../results/merge.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { PartRows, rowNumbersOf } from '../results/rows-of-request.ts';
import { cycleRequest, findRequests } from './cycle-request.ts';
import type { RefreshDirectory } from './refresh-directory.ts';

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
  /** The cycle as the ledger has it, if this command read results of it. */
  readonly cycle: NamedCycle | undefined;
}

/** The results of a job, or those of the whole cycle where no job has them any more, and the rows that they may be of. */
export interface JobResults {
  readonly file: string;
  readonly rows: readonly Rereadable[];
}

/** The results of a request that this command read. */
export interface RequestResults {
  readonly results: FileResults;
  readonly cycle: NamedCycle;
}

/**
 * Joins the results of the requests of a cycle: those that this command read, by the place of the request, and those that only
 * the files of the cycle have. Returns undefined if no request has results.
 * @throws SvcError `config` if results that the files of the cycle have are no longer found, `local` if a request is gone
 */
export async function cycleResults(
  context: Context,
  directory: RefreshDirectory,
  read: ReadonlyMap<number, RequestResults>,
): Promise<CycleResults | undefined> {
  const found = [...read].toSorted(([a], [b]) => a - b).map(([place, { results }]) => ({ place, results }));
  const lost = [...directory.requests.entries()].flatMap(([place, { report_of: reported }]) =>
    reported !== undefined && !read.has(place) ? [place] : [],
  );
  const [first] = found;
  if (first === undefined && lost.length === 0) return undefined;
  const of = new Map(found.map(({ place, results }) => [place, results.sha256]));
  for (const place of lost) of.set(place, directory.requests[place]?.report_of ?? '');
  const joined = {
    of,
    mayHaveMore: lost.length > 0 || found.some(({ results }) => results.jobs.some(({ claim }) => claim.keys !== 2)),
    cycle: [...read.values()].at(-1)?.cycle,
  };
  if (lost.length === 0 && found.length === 1 && first) {
    const { file: path, sha256, bytes } = first.results;
    return { path, sha256, bytes, jobs: async () => resultsByJob(found), ...joined };
  }
  const whole = lost.length === 0 ? [] : [await resultsOfCycle(context, directory, lost)];
  const isNew = found.some(({ place, results }) => directory.requests[place]?.report_of !== results.sha256);
  if (whole[0] && !isNew) return { ...(await sizedFile(whole[0])), jobs: async () => whole, ...joined };
  const jobs = [...whole, ...resultsByJob(found)];
  const path = await openSpool(context);
  const rows = await numberedRows(context, directory, [...of.keys()], jobs);
  const files = jobs.map(({ file }) => file);
  return { path, ...(await mergeResults(files, path, { overwrite: true, rows })), jobs: async () => jobs, ...joined };
}

async function sizedFile({ file, sha256 }: { readonly file: string; readonly sha256: string }) {
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

/** Returns the results of the jobs of some requests. Several requests may have rows of one job, which has its results once. */
function resultsByJob(found: readonly { readonly results: FileResults }[]): readonly JobResults[] {
  const jobs = new Map<string, { readonly file: string; readonly rows: Rereadable[] }>();
  for (const { results } of found)
    for (const { claim, file, rows } of results.jobs) {
      const known = jobs.get(claim.job)?.rows ?? [];
      jobs.set(claim.job, { file, rows: [...known, rows.source] });
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

/** Returns the hash of the results of the whole cycle; undefined if their file is not as the refresh wrote it. */
export async function wholeResults(directory: RefreshDirectory): Promise<string | undefined> {
  const { results, steps } = directory;
  const sha256 = await hashIfReadable(directory.resolve(results));
  const isWhole = sha256 !== undefined && steps.reported !== undefined && directory.written(results).includes(sha256);
  return isWhole ? sha256 : undefined;
}

function lostResults(directory: RefreshDirectory, place: number): SvcError {
  const { results } = directory;
  const { request } = directory.filesOf(place);
  return new SvcError('config', `${results} is not as the refresh wrote it, and the results of ${request} are gone`, {
    hint: 'The files of the cycle were left as they are. Put the file back from a copy, and run the same command again.',
    facts: { file: results },
  });
}
