import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults } from '../result-codes.ts';
import type { Rereadable } from './reconcile.ts';

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
