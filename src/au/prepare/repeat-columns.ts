// Finds columns of an export that may be a merchant, by the rows that repeat a token.

import { monthOfName } from './prepare-date.ts';
import { isNamedMerchant } from './merchant-candidates.ts';

/** The number of columns that are compared. */
const MAX_COLUMNS = 40;
/** The number of filled cells of a column whose different values are counted. */
const MAX_CELLS = 1_000;
/** With fewer cells, only a column with the name of a merchant counts. */
const FEW_CELLS = 20;
/** The number of tokens whose rows are compared. */
const MAX_TOKENS = 4_000;
/** The share of the repeated rows in which the column must differ. */
const MIN_TOLD = 0.95;

/**
 * Finds columns that may be a merchant: they have few different values in the export, and a different value in each row of the
 * same token. Compares the rows of a sample of tokens, in bounded memory.
 */
export class RepeatColumns {
  readonly #columns: readonly Column[];
  /** The cells seen so far, with the place of their column, by the token's key. */
  readonly #seen = new Map<string, Set<string>>();
  /** Only tokens whose hash has none of these bits are compared. */
  #mask = 0;
  #repeats = 0;

  /** `taken` are the columns with another meaning. */
  constructor(names: readonly string[], taken: readonly number[]) {
    const columns = names.map((name, place) => {
      const isNamed = isNamedMerchant(name);
      return { place, isNamed, filled: 0, labels: 0, told: 0, different: new Set<string>() };
    });
    this.#columns = columns.filter(({ place }) => !taken.includes(place)).slice(0, MAX_COLUMNS);
  }

  /** Takes a written row, or a row that repeats its key. */
  take(key: string, cells: readonly string[], isRepeated: boolean): void {
    for (const column of this.#columns) {
      if (column.filled === MAX_CELLS) continue;
      const cell = cells[column.place]?.trim() ?? '';
      if (cell === '') continue;
      column.filled += 1;
      column.different.add(cell);
      if (isLabel(cell)) column.labels += 1;
    }
    if (this.#columns.length === 0 || (hashOf(key) & this.#mask) !== 0) return;
    const seen = this.#seen.get(key);
    if (seen === undefined && isRepeated) return;
    if (seen !== undefined) this.#repeats += 1;
    const values = seen ?? new Set();
    for (const column of this.#columns) {
      const cell = cells[column.place]?.trim() ?? '';
      const entry = `${column.place}\0${cell}`;
      if (seen !== undefined && cell !== '' && !values.has(entry)) column.told += 1;
      values.add(entry);
    }
    if (seen !== undefined) return;
    this.#seen.set(key, values);
    if (this.#seen.size > MAX_TOKENS) this.#halve();
  }

  /** Returns the indexes of the columns that differ in the rows of most tokens. */
  found(): number[] {
    return this.#columns.filter((column) => this.#isFound(column)).map(({ place }) => place);
  }

  #isFound({ isNamed, filled, labels, told, different }: Column): boolean {
    if (this.#repeats === 0 || told < this.#repeats * MIN_TOLD) return false;
    if (filled < FEW_CELLS) return isNamed;
    return different.size <= filled / 2 && (isNamed || labels === filled);
  }

  /** Halves the sample of tokens to save memory. The remaining tokens keep all of their rows. */
  #halve(): void {
    this.#mask = (this.#mask << 1) | 1;
    for (const key of this.#seen.keys()) if ((hashOf(key) & this.#mask) !== 0) this.#seen.delete(key);
  }
}

interface Column {
  readonly place: number;
  readonly isNamed: boolean;
  filled: number;
  labels: number;
  told: number;
  readonly different: Set<string>;
}

const DATE = /^\d{1,4}[-/.]\d{1,2}(?:\D|$)/;
const LABEL = /\p{L}|^\d{9,}$/u;

/** Tells whether a cell may name something, in contrast to a date, an amount or a number of an attempt. */
function isLabel(cell: string): boolean {
  if (!LABEL.test(cell) || DATE.test(cell)) return false;
  const [word = '', ...others] = cell.split(/[^\p{L}]+/u).filter((part) => part !== '');
  return others.length > 0 || !/\d/.test(cell) || monthOfName(word) === undefined;
}

/** Returns a hash of the end of a key, where keys differ most. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - 12); at < key.length; at += 1)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
