import { fileSource } from '../../client/transfer/source.ts';
import type { FileResults } from '../jobs/file-jobs.ts';
import { readRequest, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { readResults } from '../result-codes.ts';
import { repeatedResults, TokenRows } from '../results/token-rows.ts';

/**
 * Returns a function that finds the row of each result, one after the other: its place among the rows of its token in the
 * request, counted from 0; undefined if it is not known. A token with one row names it. A token with rows for several
 * merchants is in several jobs, so that its row is known by the job of the result.
 */
export async function placeOfResult(results: FileResults): Promise<(token: string) => number | undefined> {
  const rows = await TokenRows.of(results.found.file.source);
  const known = await placesByJob(results, rows);
  // A job of an earlier build may have a token for several merchants, one of which this request does not have.
  const isEarlier = results.jobs.some(({ claim }) => claim.keys !== 2);
  const repeated = isEarlier ? await repeatedResults(await fileSource(results.file)) : new Set<string>();
  const taken = new Map<string, number>();
  return (token) => {
    const key = tokenKey(token);
    if (rows.rowsOf(token) === 1) return repeated.has(key) ? undefined : 0;
    const count = taken.get(key) ?? 0;
    taken.set(key, count + 1);
    return known.get(key)?.[count];
  };
}

/**
 * Returns, for each token with several rows, the places of those that have a result, in the order of the results. A token is
 * left out if one job has several of its rows, or several results of it.
 */
async function placesByJob({ found, jobs }: FileResults, tokens: TokenRows): Promise<ReadonlyMap<string, number[]>> {
  const isSeveral = (token: string): boolean => tokens.rowsOf(token) > 1;
  const places = new Map<string, number>();
  const placeOf = tokens.counting();
  for await (const rows of readRequest(found.file.source.open()))
    for (const row of rows) if (isSeveral(row.token)) places.set(rowKeyOf(row), placeOf(row.token));
  const answered = new Map<string, number[]>();
  if (places.size === 0) return answered;
  const unknown = new Set<string>();
  for (const { rows: own, file } of jobs) {
    const sent = new Map<string, number[]>();
    for await (const rows of readRequest(own.source.open()))
      for (const row of rows) {
        const place = places.get(rowKeyOf(row));
        if (place !== undefined) sent.set(tokenKey(row.token), [...(sent.get(tokenKey(row.token)) ?? []), place]);
      }
    const counts = new Map<string, number>();
    for await (const rows of readResults((await fileSource(file)).open()))
      for (const key of rows.filter(({ token }) => isSeveral(token)).map(({ token }) => tokenKey(token)))
        counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const [key, count] of counts) {
      const [place, ...others] = sent.get(key) ?? [];
      // A job may have results of rows that this request does not have.
      if (place === undefined) continue;
      if (count > 1 || others.length > 0) unknown.add(key);
      answered.set(
        key,
        [...(answered.get(key) ?? []), place].toSorted((a, b) => a - b),
      );
    }
  }
  for (const key of unknown) answered.delete(key);
  return answered;
}
