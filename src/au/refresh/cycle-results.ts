import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { spoolFile } from '../request/spool.ts';
import { openSpool } from '../request/spool-output.ts';
import { readResults } from '../result-codes.ts';
import { keepResults } from '../results/merge.ts';
import { extraColumns, resultLine } from '../results/merge-in-order.ts';
import { anyToken, unorderedTokens } from '../results/unordered-tokens.ts';
import { type RunRecord, statusOf } from '../run/record.ts';
import type { MatchOptions } from '../results/result-rows.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { holdRun } from '../run/verdict.ts';
import { findRequests } from './cycle-request.ts';
import { type RefreshDirectory, runHere } from './refresh-directory.ts';
import { type ResultSource, SharedResults } from './shared-results.ts';

/** The results of all requests of a cycle that have some. */
export interface CycleResults {
  /** The file with their rows: that of the only request, or a private one. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The files that its rows are from, oldest first. */
  readonly sources: readonly CycleSource[];
  /** Decides which rows of these files count; undefined for a single file, all of whose rows count. */
  readonly shared: SharedResults | undefined;
  /** The hash of each request's own results, by the place of the request. */
  readonly of: ReadonlyMap<number, string>;
  /** The places of requests whose results may have the rows of a token in another order. */
  readonly unordered: ReadonlySet<number>;
  /** The newest of their runs that is recorded on this machine. */
  readonly record: RunRecord | undefined;
}

/** A file with the proven results of a request, or the file of the whole cycle with those of several. */
export interface CycleSource extends MatchOptions {
  /** The places of the requests. */
  readonly places: readonly number[];
  readonly file: string;
  /** Whether a file of several requests has the results in the order of their rows, and none of other rows. */
  readonly isOrdered?: boolean | undefined;
  /** The places of the requests whose results may have the rows of a token in another order, if those were not read here. */
  readonly unordered?: ReadonlySet<number> | undefined;
}

interface Source extends CycleSource {
  readonly sha256: string;
  readonly record?: RunRecord | undefined;
}

/**
 * Joins the results of the requests of a cycle. A row that two requests share has its results once, and a token has several
 * if its rows for several merchants are in several requests. Returns undefined if no request has results.
 * @throws SvcError `config` if results that the files of the cycle have are no longer found
 */
export async function cycleResults(context: Context, directory: RefreshDirectory): Promise<CycleResults | undefined> {
  const { sources, lost } = await findSources(context, directory);
  const of = new Map(sources.flatMap(({ places, sha256 }) => places.map((place) => [place, sha256] as const)));
  const found = lost.length === 0 ? sources : await withResultsOfOthers(directory, sources, lost);
  const [first] = found;
  if (first === undefined) return undefined;
  for (const place of lost) of.set(place, directory.requests[place]?.report_of ?? '');
  const record = sources.findLast((source) => source.record !== undefined)?.record;
  const unordered = new Set(found.flatMap((source) => [...unorderedPlaces(source)]));
  if (found.length === 1) {
    const { size: bytes } = await fileSource(first.file);
    const { file, sha256 } = first;
    return { path: file, sha256, bytes, sources: found, shared: undefined, of, unordered, record };
  }
  const all = await asCopies(context, found, directory.resolve(directory.results));
  const path = await openSpool(context);
  const requested: ResultSource[] = [];
  for (const { places, file, mayHaveMore, isUnordered } of all) {
    const requests = await findRequests(context, directory, places);
    requested.push({ file, requests, mayHaveMore, isUnordered });
  }
  const shared = await SharedResults.of(requested);
  const joined = await writeWhole(path, true, async (draft) => {
    for await (const lines of joinedRows(all, shared)) await draft.write(lines);
  });
  return { path, ...joined, sources: all, shared, of, unordered, record };
}

function unorderedPlaces({ places, isUnordered, unordered }: CycleSource): Iterable<number> {
  return unordered ?? (isUnordered === undefined ? [] : places);
}

/** Finds the results of each request, and the places of requests whose results only the files of the cycle have. */
async function findSources(context: Context, directory: RefreshDirectory) {
  const sources: Source[] = [];
  const lost: number[] = [];
  for (const [place, { run: name, report_of: of, unordered }] of directory.requests.entries()) {
    const isNoted = unordered === true ? anyToken : undefined;
    if (name === undefined) continue;
    const run = await runHere(context, name);
    const found = run && (await resultsOfRun(context, run, directory.resolve(directory.results)));
    const older = directory.olderResults(place);
    if (found)
      sources.push({
        places: [place],
        file: found.file,
        sha256: found.sha256,
        record: run.record,
        mayHaveMore: run.record.parts.some(({ joined }) => joined !== undefined),
        // The rows of the jobs of a pruned run are gone. They were read when its results were reported.
        isUnordered: run.record.pruned_at !== undefined && of !== undefined ? isNoted : await unorderedTokens(run),
      });
    else if (of !== undefined && (await hashIfReadable(directory.resolve(older))) === of)
      sources.push({
        places: [place],
        file: directory.resolve(older),
        sha256: of,
        mayHaveMore: true,
        isUnordered: isNoted,
      });
    else if (of !== undefined) lost.push(place);
  }
  return { sources, lost };
}

/** Returns the results that a run keeps, which are written again if they are gone. Undefined while it has none. */
async function resultsOfRun(context: Context, run: RunDirectory, ofCycle: string) {
  if (statusOf(run.record) !== 'completed') return undefined;
  const { results, pruned_at: pruned } = run.record;
  const isIntact = results !== undefined && (await hashIfReadable(results.file)) === results.sha256;
  // Version 1 wrote the results of a request where those of the whole cycle are now.
  if (isIntact && pruned !== undefined) return results;
  if (isIntact && results.file !== ofCycle) return results;
  return pruned === undefined ? holdRun(context, run, () => keepResults(run)) : undefined;
}

/** Takes the results of requests whose runs are not here from the file of the whole cycle, if that has them. */
async function withResultsOfOthers(
  directory: RefreshDirectory,
  sources: readonly Source[],
  lost: readonly number[],
): Promise<readonly Source[]> {
  const file = directory.resolve(directory.results);
  const sha256 = await wholeResults(directory);
  if (sha256 === undefined) throw lostResults(directory, lost[0] ?? 0);
  const others = sources.filter(({ places, sha256: own }) =>
    places.every((place) => directory.requests[place]?.report_of !== own),
  );
  // The file has the results of requests that are not lost too.
  const places = reportedPlaces(directory);
  const unordered = new Set(places.filter((place) => directory.requests[place]?.unordered === true));
  const whole = {
    places,
    file,
    sha256,
    mayHaveMore: true,
    isOrdered: directory.steps.ordered === sha256,
    isUnordered: unordered.size > 0 ? anyToken : undefined,
    unordered,
  };
  const last = Math.max(...lost);
  const isBefore = ({ places: [place = 0] }: Source): boolean => place < last;
  return [...others.filter(isBefore), whole, ...others.filter((source) => !isBefore(source))];
}

/** Copies the file of the whole cycle where it is a source, because it is replaced before its results are read again. */
async function asCopies(context: Context, sources: readonly Source[], ofCycle: string): Promise<readonly Source[]> {
  if (sources.every(({ file }) => file !== ofCycle)) return sources;
  const copy = await spoolFile(context.system, ofCycle);
  context.onClose(() => copy.remove());
  return sources.map((source) => (source.file === ofCycle ? { ...source, file: copy.path } : source));
}

/** Returns the hash of the results of the whole cycle; undefined if their file is not as the refresh wrote it. */
async function wholeResults(directory: RefreshDirectory): Promise<string | undefined> {
  const { results, steps } = directory;
  const sha256 = await hashIfReadable(directory.resolve(results));
  const isWhole = sha256 !== undefined && steps.reported !== undefined && directory.written(results).includes(sha256);
  return isWhole ? sha256 : undefined;
}

/** Tells whether the files of the cycle had results of a request that nothing here has now: its run is on another machine. */
export async function areLost(context: Context, directory: RefreshDirectory, place: number): Promise<boolean> {
  const { run = '', report_of: of } = directory.requests[place] ?? {};
  if (of === undefined || (await runHere(context, run)) !== undefined) return false;
  if ((await wholeResults(directory)) !== undefined) return false;
  return (await hashIfReadable(directory.resolve(directory.olderResults(place)))) !== of;
}

function lostResults(directory: RefreshDirectory, place: number): SvcError {
  const run = directory.requests[place]?.run ?? '<run>';
  const { results } = directory;
  return new SvcError('config', `${results} is not as the refresh wrote it, and the results of ${run} are gone`, {
    hint: 'The files of the cycle were left as they are. Put the file back from a copy, or get the results again, and run the same command:',
    next: ['au', 'download', run, '--out', directory.olderResults(place)],
    facts: { file: results, run },
  });
}

/** Returns the places of the requests whose results are in the file of the whole cycle. */
function reportedPlaces({ requests }: RefreshDirectory): readonly number[] {
  return [...requests.entries()].flatMap(([place, { report_of: of }]) => (of === undefined ? [] : [place]));
}

async function* joinedRows(sources: readonly CycleSource[], shared: SharedResults): AsyncGenerator<string> {
  const extra = await extraColumns(sources.map(({ file }) => file));
  yield csvRow([...RESULT_COLUMNS, ...extra]);
  for (const [index, { file }] of sources.entries()) {
    const counts = shared.counting(index);
    for await (const rows of readResults((await fileSource(file)).open()))
      yield rows
        .filter(counts)
        .map((row) => resultLine(row, extra))
        .join('');
  }
}
