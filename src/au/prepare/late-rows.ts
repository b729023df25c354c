// Finds repeated rows in exports with too many rows for one pass.

import { type Overflow, ROW_WORDS, RowBuckets } from '../request/row-buckets.ts';
import { TokenTable } from '../request/token-table.ts';

/** The words of the hash of a row's key. */
const HASH_WORDS = 3;
/** The bits of the number of an expiration. */
const DATE_BITS = 12;
const DATE_MASK = 2 ** DATE_BITS - 1;

/**
 * The late rows of an export: those after the table of rows is full. Stores a hash of each key and the expiration as a number,
 * with `openOverflow` in bounded memory.
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

  /** Moves rows out of memory if there are many. Callers call it now and then between rows. */
  async relieve(): Promise<void> {
    await this.#rows.relieve();
  }

  /** Finds late rows that repeat another row; undefined without any. May be called only once. */
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

/** Repeated rows that were found late. A second reading of the export writes each of them once. */
export class RepeatedRows {
  /** For each row, the latest expiration in the low bits, and the latest one that this reading has seen above them. */
  readonly #dates: TokenTable;

  constructor(dates: TokenTable) {
    this.#dates = dates;
  }

  /** Returns the latest expiration of a repeated row as a number; 0 for any other row. */
  latestOf(key: string): number {
    return this.#dates.get(key) & DATE_MASK;
  }

  /** Takes the next row. Returns whether it is the first with its key or a repeat; undefined for a row without repeats. */
  take(key: string, date: number): 'first' | 'repeated' | 'later' | undefined {
    const dates = this.#dates.get(key);
    if (dates === 0) return undefined;
    const before = dates >>> DATE_BITS;
    if (date > before) this.#dates.set(key, (dates & DATE_MASK) | (date << DATE_BITS));
    if (before === 0) return 'first';
    return date > before ? 'later' : 'repeated';
  }
}
