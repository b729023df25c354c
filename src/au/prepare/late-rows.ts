// Finds repeated rows in exports with too many rows for one pass.

import { type Overflow, ROW_WORDS, RowBuckets } from '../request/row-buckets.ts';
import { TokenTable } from '../request/token-table.ts';

/** The words of the hash of a row's key. */
const HASH_WORDS = 3;
/** The bits of the number of an expiration. */
const DATE_BITS = 12;
const DATE_MASK = 2 ** DATE_BITS - 1;

/**
 * The rows of an export that come after the table of its first rows is full: hashes of their keys and the numbers of their
 * expirations, in bounded memory if it may use an overflow. A lookup in the full table takes as long as the rest of a row.
 */
export class LateRows {
  readonly #first: TokenTable;
  readonly #rows: RowBuckets;
  #isEmpty = true;

  /** `first` has the numbers of the expirations of the first rows, by their keys. */
  constructor(first: TokenTable, openOverflow: (() => Promise<Overflow>) | undefined) {
    this.#first = first;
    this.#rows = new RowBuckets(openOverflow);
  }

  add(key: string, date: number): void {
    this.#isEmpty = false;
    const hash = this.#first.hashOf(key);
    this.#rows.add(hash[0] ?? 0, hash[1] ?? 0, hash[2] ?? 0, date);
  }

  /** Moves rows out of memory if there are many. To be called now and then between rows. */
  async relieve(): Promise<void> {
    await this.#rows.relieve();
  }

  /** Finds the rows that repeat a late or a first one; undefined if there are none. Must be called once. */
  async repeated(): Promise<RepeatedRows | undefined> {
    if (this.#isEmpty) return undefined;
    await this.#addFirst();
    const repeated = new TokenTable({ words: HASH_WORDS });
    const table = new TokenTable({ words: HASH_WORDS });
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

  async #addFirst(): Promise<void> {
    for (const slots of this.#first.pieces()) {
      for (let at = 0; at < slots.length; at += ROW_WORDS) {
        const date = slots[at + HASH_WORDS] ?? 0;
        if (date !== 0) this.#rows.add(slots[at] ?? 0, slots[at + 1] ?? 0, slots[at + 2] ?? 0, date);
      }
      await this.relieve();
    }
  }
}

/** Rows that are in an export more than once, for a second reading of it, which writes each of them once. */
export class RepeatedRows {
  /** The number of the latest expiration of each row, and above it the latest one read so far. */
  readonly #dates: TokenTable;

  constructor(dates: TokenTable) {
    this.#dates = dates;
  }

  /** Returns the number of the latest expiration of a row; 0 for a row that is not one of these. */
  latestOf(key: string): number {
    return this.#dates.get(key) & DATE_MASK;
  }

  /** Takes the next row. Returns whether it is the first with its key, or a repeat; undefined for a row that is not one of these. */
  take(key: string, date: number): 'first' | 'repeated' | 'later' | undefined {
    const dates = this.#dates.get(key);
    if (dates === 0) return undefined;
    const before = dates >>> DATE_BITS;
    if (date > before) this.#dates.set(key, (dates & DATE_MASK) | (date << DATE_BITS));
    if (before === 0) return 'first';
    return date > before ? 'later' : 'repeated';
  }
}
