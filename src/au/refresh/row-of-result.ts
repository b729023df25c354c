import type { Context } from '../../cli/app/command.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { merchantOf, readRequest, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults } from '../result-codes.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { repeatedResults } from '../results/token-rows.ts';
import { findRequests } from './cycle-request.ts';
import type { CycleResults, JobResults } from './cycle-results.ts';
import type { RefreshDirectory } from './refresh-directory.ts';

/** The row of a request that a result belongs to. */
export interface RowPlace {
  /** The place of the request in the cycle. */
  readonly request: number;
  /** The place of the row among those of its token in the request, counted from 0. */
  readonly place: number;
  /** Whether the token has no other row in the requests. */
  readonly isOnly: boolean;
}

/** Returns the row of each result of a cycle, one after the other; undefined if it is not known. */
export type RowOfResult = (token: string) => RowPlace | undefined;

/**
 * Finds the row of each result of a cycle. A token with one row names it. A token with rows for several merchants is in
 * several jobs, so that its row is known by the job of the result.
 */
export async function rowOfResult(
  context: Context,
  directory: RefreshDirectory,
  { path, of, jobs, mayHaveMore }: CycleResults,
): Promise<RowOfResult> {
  const places = [...of.keys()].toSorted((a, b) => a - b);
  const paths = await findRequests(context, directory, places);
  const requests = await Promise.all((paths ?? []).map((request) => fileSource(request)));
  const rows = await RequestsByToken.of(requests);
  const several = await rows.withSeveralRows(requests);
  const known = several.size === 0 ? new Map<string, readonly RowPlace[]>() : await rowsByJob(await jobs(), several);
  const repeated =
    mayHaveMore || paths === undefined ? await repeatedResults(await fileSource(path)) : new Set<string>();
  const taken = new Map<string, number>();
  return (token) => {
    const key = tokenKey(token);
    if (several.has(key)) {
      const count = taken.get(key) ?? 0;
      taken.set(key, count + 1);
      const row = known.get(key)?.[count];
      return row && { ...row, request: places[row.request] ?? 0 };
    }
    // One of the results may be that of a row which no request has. Without the requests, the token may have several rows.
    if (repeated.has(key)) return undefined;
    return { request: places[rows.newest(key)] ?? -1, place: 0, isOnly: true };
  };
}

/** The rows of each token that has several, by the key of the row. */
type SeveralRows = ReadonlyMap<string, ReadonlyMap<string, RowPlace>>;

/** The tokens of the requests of a cycle. Only tokens with rows for several merchants take more than a few bytes. */
class RequestsByToken {
  /** The number of the last request with a token, starting at 1. */
  readonly #newest = new TokenTable({ words: 3 });
  readonly #several = new Set<string>();

  static async of(requests: readonly Rereadable[]): Promise<RequestsByToken> {
    const found = new RequestsByToken();
    const merchants = new Map<string, number>();
    const first = new TokenTable({ words: 3 });
    for (const [index, request] of requests.entries())
      for await (const rows of readRequest(request.open()))
        for (const row of rows) {
          const key = tokenKey(row.token);
          const merchant = merchantOf(row);
          const number = merchants.get(merchant) ?? merchants.size + 1;
          merchants.set(merchant, number);
          const earlier = first.setIfAbsent(key, number);
          if (earlier !== 0 && earlier !== number) found.#several.add(key);
          found.#newest.set(key, index + 1);
        }
    return found;
  }

  newest(key: string): number {
    return this.#newest.get(key) - 1;
  }

  /** Returns the rows of each token that has several, in the order of the requests. A shared row is that of the last request. */
  async withSeveralRows(requests: readonly Rereadable[]): Promise<SeveralRows> {
    const found = new Map<string, Map<string, RowPlace>>();
    if (this.#several.size === 0) return found;
    for (const [request, source] of requests.entries()) {
      const counts = new Map<string, number>();
      for await (const rows of readRequest(source.open()))
        for (const row of rows) {
          const key = tokenKey(row.token);
          if (!this.#several.has(key)) continue;
          const place = counts.get(key) ?? 0;
          counts.set(key, place + 1);
          const own = found.get(key) ?? new Map<string, RowPlace>();
          own.delete(rowKeyOf(row));
          found.set(key, own.set(rowKeyOf(row), { request, place, isOnly: false }));
        }
    }
    return found;
  }
}

/**
 * Returns, for each token with several rows, those that have a result, in the order in which the results of the cycle have
 * them. A token is left out if one job has several of its rows, or several results of it.
 */
async function rowsByJob(
  jobs: readonly JobResults[],
  several: SeveralRows,
): Promise<ReadonlyMap<string, readonly RowPlace[]>> {
  const answered = new Map<string, Set<string>>();
  const unknown = new Set<string>();
  for (const { file, rows } of jobs) {
    const own = await keysByToken(rows, several);
    const results = new Map<string, number>();
    for await (const batch of readResults((await fileSource(file)).open()))
      for (const key of batch.map(({ token }) => tokenKey(token)))
        if (several.has(key)) results.set(key, (results.get(key) ?? 0) + 1);
    for (const [key, count] of results) {
      const [row, ...others] = own.get(key) ?? [];
      // A job may have results of rows that the cycle of this directory does not have.
      if (row === undefined) continue;
      if (count > 1 || others.length > 0) unknown.add(key);
      answered.set(key, (answered.get(key) ?? new Set()).add(row));
    }
  }
  const known = new Map<string, readonly RowPlace[]>();
  for (const [key, rows] of answered)
    if (!unknown.has(key))
      known.set(
        key,
        [...(several.get(key) ?? [])].flatMap(([row, place]) => (rows.has(row) ? [place] : [])),
      );
  return known;
}

/** Returns the keys of the rows of each wanted token. */
async function keysByToken(
  sources: readonly Rereadable[],
  wanted: SeveralRows,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const source of sources)
    for await (const rows of readRequest(source.open()))
      for (const row of rows) {
        const key = tokenKey(row.token);
        if (wanted.has(key)) found.set(key, (found.get(key) ?? new Set()).add(rowKeyOf(row)));
      }
  return found;
}
