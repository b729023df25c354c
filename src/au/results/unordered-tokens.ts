import { readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import type { Part } from '../run/part.ts';
import { partsByJob, rowsIn } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import type { MatchOptions } from './result-rows.ts';
import { rowsOfJob, rowsOfParts } from './rows-of-job.ts';

type IsUnordered = MatchOptions['isUnordered'];

/**
 * Returns a function that tells which tokens have several rows in a job of another machine that may have them in another
 * order; undefined if there are none. Such a token's results are in the order of the job.
 */
export async function unorderedTokens(run: RunDirectory): Promise<IsUnordered> {
  const found = new Set<string>();
  for (const parts of partsByJob(run.record.parts.filter(({ state }) => state === 'downloaded'))) {
    const [part] = parts;
    // The order of rows in different parts of the same job is not known.
    const isOrdered = parts.length === 1 && hasOrderOfJob(part);
    if (isOrdered || (await rowsOfJob(run, part)) !== undefined) continue;
    const source = await rowsOfParts(run, parts);
    // A part whose rows are gone may have any row of the request.
    if (source === undefined) return anyToken;
    const seen = new TokenTable({ words: 3, expected: rowsIn(parts) });
    for await (const rows of readRequest(source.open()))
      for (const key of rows.map(({ token }) => tokenKey(token))) if (seen.setIfAbsent(key, 1) !== 0) found.add(key);
  }
  return found.size === 0 ? undefined : (key) => found.has(key);
}

/** Tells whether the rows of a part are known to have the order in which its job has them. */
export function hasOrderOfJob({ joined }: Part): boolean {
  return joined === undefined || joined.in_order === true;
}

/** Tells of every token that its results may have another order than its rows. */
export function anyToken(): boolean {
  return true;
}
