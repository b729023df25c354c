import { readResults } from './read-results.ts';
import type { ResultRow } from './result-row.ts';

/** Goes over a result file beside another file: one row in sight, and the next when it is asked for. */
export class ResultCursor {
  /** The row in sight; undefined behind the last. */
  row: ResultRow | undefined;
  readonly #batches: AsyncGenerator<readonly ResultRow[], void>;
  #batch: readonly ResultRow[] = [];
  #at = 0;

  private constructor(source: AsyncIterable<Uint8Array>) {
    this.#batches = readResults(source);
  }

  /** Stands on the first row. Fails as `readResults` does. */
  static async open(source: AsyncIterable<Uint8Array>): Promise<ResultCursor> {
    const cursor = new ResultCursor(source);
    await cursor.#refill();
    return cursor;
  }

  /** Goes on by one row. Most rows are there already: only what it gives is to be waited for. */
  advance(): Promise<void> | undefined {
    this.#at += 1;
    this.row = this.#batch[this.#at];
    return this.row === undefined ? this.#refill() : undefined;
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#batches.return();
  }

  async #refill(): Promise<void> {
    const next = await this.#batches.next();
    this.#batch = next.done === true ? [] : next.value;
    this.#at = 0;
    this.row = this.#batch[0];
  }
}
