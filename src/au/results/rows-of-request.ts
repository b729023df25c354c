import { readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import type { ResultRow } from '../result-codes.ts';
import type { Rereadable } from './reconcile.ts';
import { contentKey, ResultRows } from './result-rows.ts';

type NumberOf = (row: RequestRow) => number;

/** The rows of a part or job by token, each with its number in the request, starting at 1; 0 for a row of another file. */
export class PartRows {
  /** The number of a token's first row, plus one. */
  readonly #first: TokenTable;
  /** The numbers of the further rows of tokens with several merchants. */
  readonly #further = new Map<string, number[]>();
  /** Whether the job has rows that are not known, so that a token can have more results than rows. */
  #mayHaveMore = false;

  private constructor(expected: number) {
    this.#first = new TokenTable({ words: 3, expected });
  }

  /** Reads the rows of a part. By default they are counted. */
  static async of(part: Rereadable, expected: number, numberOf?: NumberOf): Promise<PartRows> {
    const found = new PartRows(expected);
    let count = 0;
    for await (const rows of readRequest(part.open()))
      for (const row of rows) {
        count += 1;
        found.#add(row.token, numberOf ? numberOf(row) : count);
      }
    return found;
  }

  /**
   * Reads the rows of a job. Only rows in `own` get a number: the others belong to other files, or have their results from
   * other jobs. Where it is not known which row of a token has a result, the result is taken for one of these.
   */
  static async ofJob(
    job: Rereadable,
    results: Rereadable,
    own: Rereadable,
    expected: number,
    numberOf: NumberOf,
  ): Promise<PartRows> {
    const found = new PartRows(expected);
    const matched = await ResultRows.match(job, results);
    const ownNumberOf = await rowNumbersOf(own, expected);
    for await (const rows of readRequest(job.open()))
      for (const row of rows) {
        const number = ownNumberOf(row) === 0 ? 0 : numberOf(row);
        if (number !== 0 || matched.isKnown(row.token)) found.#add(row.token, number);
      }
    return found;
  }

  /** Reads the rows that a part has of another machine's job, whose other rows are not known. */
  static async ofUnknownJob(part: Rereadable, expected: number, numberOf: NumberOf): Promise<PartRows> {
    const found = await PartRows.of(part, expected, numberOf);
    found.#mayHaveMore = true;
    return found;
  }

  has(token: string): boolean {
    return this.#first.get(tokenKey(token)) !== 0;
  }

  /**
   * Returns a function that numbers results one after the other: the next result of a token is that of its next row. The
   * number is 0 for a result of another file, and for one more of equal results than a token has rows.
   */
  numbering(): (result: ResultRow) => number {
    const taken = new Map<string, number>();
    const equal = this.#mayHaveMore ? new TokenTable({ words: 3 }) : undefined;
    return (result) => {
      const key = tokenKey(result.token);
      const first = Math.max(0, this.#first.get(key) - 1);
      const further = this.#further.get(key);
      if (equal && addTo(equal, contentKey(result)) > 1 + (further?.length ?? 0)) return 0;
      if (further === undefined) return first;
      const before = taken.get(key) ?? 0;
      taken.set(key, before + 1);
      return before === 0 ? first : (further[Math.min(before, further.length) - 1] ?? first);
    };
  }

  #add(token: string, number: number): void {
    const key = tokenKey(token);
    if (this.#first.setIfAbsent(key, number + 1) === 0) return;
    const further = this.#further.get(key);
    if (further) further.push(number);
    else this.#further.set(key, [number]);
  }
}

/** Adds one to a number in a table. Returns the sum. */
function addTo(table: TokenTable, key: string): number {
  const sum = table.get(key) + 1;
  table.set(key, sum);
  return sum;
}

/** Returns a function that finds the number of a row in a request by token and merchant, starting at 1; 0 for any other. */
export async function rowNumbersOf(request: Rereadable, expected: number): Promise<NumberOf> {
  const table = new TokenTable({ words: 3, expected });
  let number = 0;
  for await (const rows of readRequest(request.open()))
    for (const row of rows) table.setIfAbsent(rowKeyOf(row), (number += 1));
  return (row) => table.get(rowKeyOf(row));
}
