import { merchantOf, readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import type { Rereadable } from './reconcile.ts';
import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { readResults } from '../result-codes.ts';

type NumberOf = (row: RequestRow) => number;

/** The rows of a part or job by token, each with its number in the request, starting at 1. */
export class PartRows {
  /** The number of a token's first row, plus one. A job has no token twice, but for jobs of earlier builds. */
  readonly #numbers: TokenTable;

  private constructor(expected: number) {
    this.#numbers = new TokenTable({ words: 3, expected });
  }

  /** Reads the rows of one part, or of several for the same job. By default those of each are counted. */
  static async of(parts: readonly Rereadable[], expected: number, numberOf?: NumberOf): Promise<PartRows> {
    const found = new PartRows(expected);
    for (const part of parts) {
      let count = 0;
      for await (const rows of readRequest(part.open()))
        for (const row of rows) {
          count += 1;
          found.#numbers.setIfAbsent(tokenKey(row.token), (numberOf ? numberOf(row) : count) + 1);
        }
    }
    return found;
  }

  has(token: string): boolean {
    return this.#numbers.get(tokenKey(token)) !== 0;
  }

  /** Returns the number of the row to which a result of a token belongs; 0 for a token of another file. */
  numberOf(token: string): number {
    return Math.max(0, this.#numbers.get(tokenKey(token)) - 1);
  }
}

/** Returns a function that finds the number of a row in a request by token and merchant, starting at 1; 0 for any other. */
export async function rowNumbersOf(request: Rereadable, expected: number): Promise<NumberOf> {
  const table = new TokenTable({ words: 3, expected });
  let number = 0;
  for await (const rows of readRequest(request.open()))
    for (const row of rows) table.setIfAbsent(rowKeyOf(row), (number += 1));
  return (row) => table.get(rowKeyOf(row));
}

/** The rows of a request by token, which has one for each of its merchants. Only tokens with several rows take memory. */
export class TokenRows {
  readonly #several: ReadonlyMap<string, number>;

  private constructor(several: ReadonlyMap<string, number>) {
    this.#several = several;
  }

  static async of(request: Rereadable): Promise<TokenRows> {
    if (!(await hasSeveralMerchants(request))) return new TokenRows(new Map());
    return new TokenRows(await repeatedTokens(readRequest(request.open())));
  }

  /** Returns the number of rows that the request has of a token. */
  rowsOf(token: string): number {
    return this.#several.get(tokenKey(token)) ?? 1;
  }

  /** Returns a function that counts the rows of the request one after the other, by token, from 0. */
  counting(): (token: string) => number {
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

/** Tells whether rows differ in their merchant. A token has one row for each merchant, so that it has only one otherwise. */
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

/** Returns the keys of the tokens that occur several times, with the number of times. */
async function repeatedTokens(
  batches: AsyncIterable<readonly { readonly token: string }[]>,
): Promise<ReadonlyMap<string, number>> {
  const all = new TokenTable({ words: 3 });
  const repeated = new Map<string, number>();
  for await (const rows of batches)
    for (const key of rows.map(({ token }) => tokenKey(token)))
      if (all.setIfAbsent(key, 1) !== 0) repeated.set(key, (repeated.get(key) ?? 1) + 1);
  return repeated;
}

/** Returns the keys of the tokens that have several results. */
export async function repeatedResults(results: Rereadable): Promise<ReadonlySet<string>> {
  return new Set((await repeatedTokens(readResults(results.open()))).keys());
}

/** Leaves out the results of tokens that are not wanted. */
export function onlyResults(results: Rereadable, isWanted: (token: string) => boolean): Rereadable {
  return {
    async *open() {
      yield Buffer.from(csvRow(RESULT_COLUMNS));
      for await (const rows of readResults(results.open())) {
        const wanted = rows.filter(({ token }) => isWanted(token));
        yield Buffer.from(csvRows(wanted.map((row) => RESULT_COLUMNS.map((name) => row[name]))));
      }
    },
  };
}
