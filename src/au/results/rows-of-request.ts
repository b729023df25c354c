import { csvRow } from '../../cli/output/csv.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults } from '../result-codes.ts';
import type { Rereadable } from './reconcile.ts';

/** The rows of a part by token, each with its number in the request, starting at 1. */
export class PartRows {
  readonly #first: TokenTable;
  /** The further rows of tokens with several merchants. */
  readonly #further = new Map<string, number[]>();

  private constructor(expected: number) {
    this.#first = new TokenTable({ words: 3, expected });
  }

  /** Reads the rows of a part. `numberOf` finds a row's number by its line; by default rows are counted. */
  static async of(part: Rereadable, expected: number, numberOf?: (line: string) => number): Promise<PartRows> {
    const found = new PartRows(expected);
    let count = 0;
    for await (const rows of readRequest(part.open()))
      for (const { token, line } of rows) {
        count += 1;
        found.#add(tokenKey(token), numberOf?.(line) || count);
      }
    return found;
  }

  has(token: string): boolean {
    return this.#first.get(tokenKey(token)) !== 0;
  }

  /**
   * Returns a function that numbers results one after the other: the next result of a token is that of its next row. The
   * number is 0 for a token that the part does not have.
   */
  numbering(): (token: string) => number {
    const taken = new Map<string, number>();
    return (token) => {
      const key = tokenKey(token);
      const first = this.#first.get(key);
      const further = this.#further.get(key);
      if (further === undefined) return first;
      const before = taken.get(key) ?? 0;
      taken.set(key, before + 1);
      return before === 0 ? first : (further[Math.min(before, further.length) - 1] ?? first);
    };
  }

  #add(key: string, number: number): void {
    if (this.#first.setIfAbsent(key, number) === 0) return;
    const further = this.#further.get(key);
    if (further) further.push(number);
    else this.#further.set(key, [number]);
  }
}

/** Returns a function that finds the number of a request's row by its line, starting at 1; 0 for any other line. */
export async function lineNumbersOf(request: Rereadable, expected: number): Promise<(line: string) => number> {
  const table = new TokenTable({ words: 3, expected });
  let number = 0;
  for await (const rows of readRequest(request.open()))
    for (const { line } of rows) table.setIfAbsent(line, (number += 1));
  return (line) => table.get(line);
}

/** Leaves out the results of tokens that a part does not have. A job of another run may have rows of other files. */
export function onlyRequested(results: Rereadable, part: PartRows): Rereadable {
  return {
    async *open() {
      yield Buffer.from(csvRow(RESULT_COLUMNS));
      for await (const rows of readResults(results.open())) {
        const own = rows.filter(({ token }) => part.has(token));
        yield Buffer.from(own.map((row) => csvRow(RESULT_COLUMNS.map((name) => row[name]))).join(''));
      }
    },
  };
}
