import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import type { Division, JoinedRows } from '../ledger/divide-rows.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { spoolRows } from '../request/spool-rows.ts';
import { rowNumbersOf } from '../results/rows-of-request.ts';

/**
 * Sorts the rows that other jobs have as those jobs have them, where one of these requests is known to be the one that the job
 * is of: results name no merchant, and have the order of their job.
 */
export async function orderRows(context: Context, division: Division, requests: readonly string[]): Promise<Division> {
  if (requests.length === 0 || division.joined.length === 0) return division;
  const byHash = new Map<string | undefined, string>();
  for (const request of requests) byHash.set(await hashIfReadable(request), request);
  const joined: JoinedRows[] = [];
  for (const one of division.joined) {
    const request = byHash.get(one.claim.file.sha256);
    const sorted = request !== undefined && one.file.check.duplicates.hasSeveralMerchants;
    joined.push((sorted ? await sortedRows(context, one, request) : undefined) ?? one);
  }
  return { ...division, joined };
}

/** Returns rows in the order of a request; undefined if it does not have all of them. */
async function sortedRows(context: Context, one: JoinedRows, request: string): Promise<JoinedRows | undefined> {
  const numberOf = await rowNumbersOf(await fileSource(request), one.claim.file.rows);
  const found: { readonly line: string; readonly number: number }[] = [];
  for await (const rows of readRequest((await fileSource(one.file.path)).open()))
    for (const row of rows) found.push({ line: row.line, number: numberOf(row) });
  if (found.some(({ number }) => number === 0)) return undefined;
  const lines = found.toSorted((a, b) => a.number - b.number).map(({ line }) => `${line}\n`);
  const { path, check } = await spoolRows(context, inPieces([`${REQUEST_HEADER}\n`, ...lines]));
  return { ...one, file: { path, check }, isInOrder: true };
}

/** How many lines are written at once. */
const LINES_AT_ONCE = 1000;

async function* inPieces(lines: readonly string[]): AsyncGenerator<string> {
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) yield lines.slice(at, at + LINES_AT_ONCE).join('');
}
