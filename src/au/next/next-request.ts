// Turns the rows of a request and their results into the rows of the next request.

import { requireNewToken } from '../results/new-token.ts';
import { ResultCursor } from '../results/reconcile.ts';
import { type Actions, groupOf, newExpiration, readResults, type ResultRow, type RowGroup } from '../result-codes.ts';
import type { Exclusions } from '../request/exclusions.ts';
import { merchantOf, readRequest, requestLine, type RequestRow } from '../request/request-lines.ts';
import { isSameToken, tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { tooManyToMatch } from './next-errors.ts';

/** The outcome of one row of a request. */
export interface NextRow {
  readonly request: RequestRow;
  /** `unchanged`: the row has no result. `excluded before`: the operator's list of exclusions contains the token. */
  readonly group: RowGroup | 'unchanged' | 'excluded before';
  /** The row of the next request, without a line end; empty if the row is left out. */
  readonly line: string;
  /** The result code; undefined if nothing about the row changed. */
  readonly code?: string | undefined;
  /** The line of the token in the list of exclusions; undefined unless it was excluded before. */
  readonly excludedOn?: number | undefined;
  /** The result; undefined if nothing about the row changed, or it was excluded before. */
  readonly result?: PackedResult | undefined;
}

/**
 * Yields the rows of the next cycle's request, in the order of the last request. New tokens replace old ones, together
 * with their expirations. Excluded tokens are left out, and all other rows stay unchanged. Yields batches, with
 * constant memory.
 * @throws SvcError `checksum_mismatch` for a new token that a request file may not contain, `refused_input` for one that
 *   was invented, unless the command is a rehearsal
 */
export async function* nextRequest(
  request: AsyncIterable<Uint8Array>,
  results: ResultsByToken,
  actions: Actions,
  { exclusions, isRehearsal = false }: NextRules = {},
): AsyncGenerator<readonly NextRow[], void> {
  try {
    for await (const rows of readRequest(request)) {
      const batch: NextRow[] = [];
      for (const row of rows) {
        const taken = results.take(row.token);
        // Most results are available at once, and awaiting them would be slow.
        const result = taken instanceof Promise ? await taken : taken;
        const excludedOn = exclusions?.lineOf(row.token) ?? 0;
        if (excludedOn > 0) batch.push({ request: row, group: 'excluded before', line: '', excludedOn });
        else if (result === undefined) batch.push({ request: row, group: 'unchanged', line: row.line });
        else batch.push(nextRow(row, result, actions, isRehearsal));
      }
      yield batch;
    }
  } finally {
    await results.close();
  }
}

/** The rules for rows besides the actions. */
interface NextRules {
  readonly exclusions?: Pick<Exclusions, 'lineOf'> | undefined;
  readonly isRehearsal?: boolean | undefined;
}

function nextRow(request: RequestRow, result: PackedResult, actions: Actions, isRehearsal: boolean): NextRow {
  const { result_code: code, new_token: token } = result;
  const group = groupOf(code, token !== '', actions);
  if (group === 'exclude') return { request, group, line: '', code, result };
  if (group !== 'replace') return { request, group, line: request.line, code, result };
  requireNewToken(result, isRehearsal);
  // An invalid expiration is left out. The service then uses the expiration that it stores with the new token.
  const { year = '', month = '' } = newExpiration(result) ?? {};
  return { request, group, line: requestLine([token, year, month, merchantOf(request)]), code, result };
}

/** The part of a result row that the next request needs. */
type PackedResult = Pick<
  ResultRow,
  'result_code' | 'new_token' | 'new_expiration_year' | 'new_expiration_month' | 'row'
>;

/** Results by token, in their original order. Each takes about 100 bytes as text, but 400 as an object. */
export class PackedResults {
  /** Maps each token to the number of its last result, plus one. */
  readonly #last = new TokenTable();
  /** The next result of the same token, by index. The results of a token form a ring: after the last comes the first. */
  readonly #following: number[] = [];
  readonly #texts: string[] = [];
  /** Whether it is unknown which result belongs to which row of a token. */
  readonly #isUnclear: boolean;

  constructor(isUnclear = false) {
    this.#isUnclear = isUnclear;
  }

  add(row: ResultRow): void {
    const { token, result_code, new_token, new_expiration_year, new_expiration_month } = row;
    const key = tokenKey(token);
    const last = this.#last.get(key) - 1;
    const added = this.#texts.length;
    this.#texts.push(JSON.stringify([result_code, new_token, new_expiration_year, new_expiration_month]));
    if (last !== -1 && this.#isUnclear && (this.#at(last).new_token === '') !== (new_token === '')) {
      // Every row of the token must get the new token, so results without one do not count.
      this.#following.push(added);
      if (new_token !== '') this.#last.set(key, added + 1);
      return;
    }
    this.#following.push(last === -1 ? added : (this.#following[last] ?? 0));
    if (last !== -1) this.#following[last] = added;
    this.#last.set(key, added + 1);
  }

  /** Returns the next result of a token, then the last one repeatedly; undefined if the token has none. */
  take(token: string): PackedResult | undefined {
    const last = this.#last.get(tokenKey(token)) - 1;
    if (last === -1) return undefined;
    const first = this.#following[last] ?? 0;
    this.#following[last] = this.#following[first] ?? 0;
    return this.#at(first);
  }

  #at(index: number): PackedResult {
    const [code, newToken, year, month] = JSON.parse(this.#texts[index] ?? '') as readonly string[];
    return {
      result_code: code ?? '',
      new_token: newToken ?? '',
      new_expiration_year: year ?? '',
      new_expiration_month: month ?? '',
      row: index + 1,
    };
  }
}

/** Finds, for each row of a request in order, the matching row of the results. */
export interface ResultsByToken {
  /** Returns the result. Returns undefined, without a promise, if there is none. */
  take(token: string): Promise<PackedResult> | PackedResult | undefined;
  close(): Promise<void>;
}

/** The largest number of result rows kept in memory when they are not in the order of the request. */
const MAX_BUFFERED = 1_000_000;

/** Reads results that are in the order of the request alongside the request, without keeping any in memory. */
export async function resultsInOrder(results: AsyncIterable<Uint8Array>): Promise<ResultsByToken> {
  const cursor = await ResultCursor.open(results);
  return {
    take(token) {
      const { row } = cursor;
      if (row === undefined || !isSameToken(row.token, token)) return undefined;
      return cursor.advance()?.then(() => row) ?? row;
    },
    close: () => cursor.close(),
  };
}

/**
 * Keeps results in memory, so that they can be in any order. Each row of a token takes the token's next result, or the last one
 * again: an update applies to every row. `isUnclear` tells whether it is unknown which result belongs to which row.
 * @throws SvcError `refused_input` for more results than fit in memory
 */
export async function indexResults(results: AsyncIterable<Uint8Array>, isUnclear?: boolean): Promise<ResultsByToken> {
  const packed = new PackedResults(isUnclear);
  for await (const rows of readResults(results)) {
    for (const row of rows) {
      if (row.row > MAX_BUFFERED) throw tooManyToMatch(MAX_BUFFERED);
      packed.add(row);
    }
  }
  return { take: (token) => packed.take(token), close: () => Promise.resolve() };
}
