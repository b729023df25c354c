// Finds the rows of a request by token, in a table of hashes.

import { merchantOf, readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import type { Rereadable } from './reconcile.ts';
import { readResults } from '../result-codes.ts';

type NumberOf = (row: RequestRow) => number;

/** The rows of a part or job by token. Each has its number in the request, starting at 1, or 0 for a row that the request lacks. */
export class PartRows {
  /**
   * The number of each token's first row, plus one: 0 is the table's value for a missing token, and a row that the request lacks has
   * the number 0. Only jobs of earlier builds have a token twice.
   */
  readonly #numbers: TokenTable;

  private constructor(expected: number) {
    this.#numbers = new TokenTable({ expected });
  }

  /** Reads the rows of a part. Without `numberOf`, rows are numbered in the order of the part. */
  static async of(part: Rereadable, expected: number, numberOf?: NumberOf): Promise<PartRows> {
    const partRows = new PartRows(expected);
    let count = 0;
    for await (const rows of readRequest(part.open()))
      for (const row of rows) {
        count += 1;
        partRows.#numbers.setIfAbsent(tokenKey(row.token), (numberOf ? numberOf(row) : count) + 1);
      }
    return partRows;
  }

  has(token: string): boolean {
    return this.#numbers.get(tokenKey(token)) !== 0;
  }

  /** Returns the number of a token's row; 0 for a token of another file. */
  numberOf(token: string): number {
    return Math.max(0, this.#numbers.get(tokenKey(token)) - 1);
  }
}

/** Returns a function from a row to its number in the request, starting at 1; 0 for a row that the request lacks. */
export async function rowNumbersOf(request: Rereadable, expected: number): Promise<NumberOf> {
  const table = new TokenTable({ expected });
  let number = 0;
  for await (const rows of readRequest(request.open()))
    for (const row of rows) table.setIfAbsent(rowKeyOf(row), (number += 1));
  return (row) => table.get(rowKeyOf(row));
}

/** Counts the rows of each token of a request: one for each merchant. Only tokens with several rows take memory. */
export class TokenRows {
  readonly #several: ReadonlyMap<string, number>;

  private constructor(several: ReadonlyMap<string, number>) {
    this.#several = several;
  }

  static async of(request: Rereadable): Promise<TokenRows> {
    if (!(await hasSeveralMerchants(request))) return new TokenRows(new Map());
    return new TokenRows(await repeatedTokens(readRequest(request.open())));
  }

  countRows(token: string): number {
    return this.#several.get(tokenKey(token)) ?? 1;
  }

  /** Returns a function that is called for each row in order, and returns how often the token occurred before. */
  occurrenceCounter(): (token: string) => number {
    const taken = new Map<string, number>();
    return (token) => {
      const key = tokenKey(token);
      if (!this.#several.has(key)) return 0;
      const place = taken.get(key) ?? 0;
      taken.set(key, place + 1);
      return place;
    };
  }
}

/** Tells whether rows differ in their merchant. If not, each token has one row. */
async function hasSeveralMerchants(request: Rereadable): Promise<boolean> {
  let first: string | undefined;
  for await (const rows of readRequest(request.open()))
    for (const row of rows) {
      const merchant = merchantOf(row);
      first ??= merchant;
      if (merchant !== first) return true;
    }
  return false;
}

/** Returns the keys of repeated tokens with their number of rows. */
async function repeatedTokens(
  batches: AsyncIterable<readonly { readonly token: string }[]>,
): Promise<ReadonlyMap<string, number>> {
  const all = new TokenTable();
  const repeated = new Map<string, number>();
  for await (const rows of batches)
    for (const key of rows.map(({ token }) => tokenKey(token)))
      if (all.setIfAbsent(key, 1) !== 0) repeated.set(key, (repeated.get(key) ?? 1) + 1);
  return repeated;
}

/** Returns the keys of tokens with several results. */
export async function repeatedResults(results: Rereadable): Promise<ReadonlySet<string>> {
  return new Set((await repeatedTokens(readResults(results.open()))).keys());
}
