// Finds the rows of an export that repeat a token and merchant, and the latest expiration of each.

import { type Overflow, ROW_WORDS, RowBuckets } from '../request/row-buckets.ts';
import { hashToken, TokenTable } from '../request/token-table.ts';

/** The words of the hash of a row's key. */
const HASH_WORDS = 3;
/** The bits of the number of an expiration. */
const DATE_BITS = 12;
const DATE_MASK = 2 ** DATE_BITS - 1;

/** The rows of one reading: a hash of each key, and the expiration as a number. With an overflow, memory is bounded. */
export class RowDates {
  readonly #rows: RowBuckets;
  readonly #hash = new Int32Array(HASH_WORDS);

  constructor(openOverflow: (() => Promise<Overflow>) | undefined) {
    this.#rows = new RowBuckets(openOverflow);
  }

  add(key: string, date: number): void {
    const hash = this.#hash;
    hashToken(hash, key);
    this.#rows.add(hash[0] ?? 0, hash[1] ?? 0, hash[2] ?? 0, date);
  }

  /** Moves rows out of memory if there are many. Callers call it now and then between rows. */
  async relieve(): Promise<void> {
    await this.#rows.relieve();
  }

  /** Finds the rows that repeat another row; undefined without any. May be called only once. */
  async repeated(): Promise<RepeatedRows | undefined> {
    const repeated = new TokenTable();
    const table = new TokenTable();
    for (const bucket of this.#rows.buckets()) {
      table.clear();
      for await (const piece of bucket)
        for (let at = 0; at < piece.length; at += ROW_WORDS) {
          const date = piece[at + HASH_WORDS] ?? 0;
          const latest = table.setHashIfAbsent(piece, date, at);
          if (latest === 0) continue;
          if (date > latest) table.setHash(piece, date, at);
          repeated.setHash(piece, Math.max(date, latest), at);
        }
    }
    await this.#rows.release();
    return repeated.size === 0 ? undefined : new RepeatedRows(repeated);
  }
}

/** A row among those with its key: the first, one that repeats it, or the one of these whose later expiration is sent. */
export type RepeatPlace = 'first' | 'repeated' | 'later';

/** The repeated rows of an export. The next reading writes each of them once, with its latest expiration. */
export class RepeatedRows {
  /** For each row, the latest expiration in the low bits, and the latest one that the next reading has seen above them. */
  readonly #dates: TokenTable;

  constructor(dates: TokenTable) {
    this.#dates = dates;
  }

  /** Returns the latest expiration of a repeated row as a number; 0 for any other row. */
  latestOf(key: string): number {
    return this.#dates.get(key) & DATE_MASK;
  }

  /** Takes the next row. Returns undefined for a row without repeats. */
  take(key: string, date: number): RepeatPlace | undefined {
    const dates = this.#dates.get(key);
    if (dates === 0) return undefined;
    const before = dates >>> DATE_BITS;
    if (date > before) this.#dates.set(key, (dates & DATE_MASK) | (date << DATE_BITS));
    if (before === 0) return 'first';
    return date > before && date === (dates & DATE_MASK) ? 'later' : 'repeated';
  }
}
