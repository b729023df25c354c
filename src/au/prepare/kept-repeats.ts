// Finds repeated rows of an export that differ in their kept columns.

import { CountedLines } from '../request/request-file.ts';
import { TokenTable } from '../request/token-table.ts';

/** Finds repeated rows whose kept cells differ from the first row with the same token and merchant. Only the first is kept. */
export class KeptRepeats {
  readonly lines = new CountedLines();
  /** Hashes of the keys and kept cells of the first rows. */
  readonly #first: TokenTable;
  /** Hashes of repeated first rows that came after the table was full. */
  readonly #late = new TokenTable({ words: 3, hasValues: false });

  constructor(options: { readonly expected: number; readonly mostSlots: number }) {
    this.#first = new TokenTable({ words: 3, hasValues: false, ...options });
  }

  addFirst(key: string, cells: readonly string[], isLateRepeat: boolean): void {
    const row = rowOf(key, cells);
    if (!this.#first.isFull) this.#first.setIfAbsent(row, 1);
    if (this.#first.isFull && isLateRepeat) this.#late.setIfAbsent(row, 1);
  }

  takeRepeat(key: string, cells: readonly string[], line: number): void {
    const row = rowOf(key, cells);
    if (this.#first.get(row) === 0 && this.#late.get(row) === 0) this.lines.add(line);
  }
}

function rowOf(key: string, cells: readonly string[]): string {
  return [key, ...cells].join('\0');
}
