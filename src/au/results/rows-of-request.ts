import { readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import type { Rereadable } from './reconcile.ts';

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
