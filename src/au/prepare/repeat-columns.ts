// Finds columns of an export that may be a merchant, by the rows that repeat a token.

import { type ColumnSample, FEW_CELLS } from './column-samples.ts';

/** The number of columns that are compared. */
const MAX_COLUMNS = 40;
/** The number of tokens whose rows are compared. */
const MAX_TOKENS = 4_000;
/** The number of different cells after which the rows of a token are no longer compared, and the number of all tokens. */
const MAX_CELLS_OF_TOKEN = 1_000;
const MAX_CELLS = 400_000;
/** The share of the repeated rows in which the column must differ. */
const MIN_TOLD = 0.95;

/**
 * Finds columns that may be a merchant: they have few different values in the export, and a different value in each row of the
 * same token. Compares the rows of a sample of tokens, in bounded memory.
 */
export class RepeatColumns {
  readonly #columns: readonly { readonly sample: ColumnSample; told: number }[];
  /** The cells seen so far, with the place of their column, by the token's key. */
  readonly #seen = new Map<string, Set<string>>();
  /** Only tokens whose hash has none of these bits are compared. */
  #mask = 0;
  #cells = 0;
  #repeats = 0;

  constructor(samples: readonly ColumnSample[]) {
    this.#columns = samples.slice(0, MAX_COLUMNS).map((sample) => ({ sample, told: 0 }));
  }

  /** Takes a written row, or a row that repeats its key. */
  take(key: string, cells: readonly string[]): void {
    if (this.#columns.length === 0 || (hashOf(key) & this.#mask) !== 0) return;
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.size > MAX_CELLS_OF_TOKEN) return;
    if (seen !== undefined) this.#repeats += 1;
    const values = seen ?? new Set();
    const before = values.size;
    for (const column of this.#columns) {
      const cell = cells[column.sample.place]?.trim() ?? '';
      const entry = `${column.sample.place}\0${cell}`;
      if (seen !== undefined && cell !== '' && !values.has(entry)) column.told += 1;
      values.add(entry);
    }
    this.#seen.set(key, values);
    this.#cells += values.size - before;
    if (this.#seen.size > MAX_TOKENS || this.#cells > MAX_CELLS) this.#halve();
  }

  /** Returns the indexes of the columns that differ in the rows of most tokens. */
  found(): number[] {
    return this.#columns.flatMap(({ sample, told }) => {
      const { isNamedMerchant: isNamed, filled, labels, different } = sample;
      const isTold = this.#repeats > 0 && told >= this.#repeats * MIN_TOLD;
      const hasFewLabels = different.size <= filled / 2 && (isNamed || labels === filled);
      // With few cells, only a column with the name of a merchant counts.
      return isTold && (filled < FEW_CELLS ? isNamed : hasFewLabels) ? [sample.place] : [];
    });
  }

  /** Halves the sample of tokens to save memory. The remaining tokens keep all of their rows. */
  #halve(): void {
    this.#mask = (this.#mask << 1) | 1;
    for (const [key, { size }] of this.#seen) {
      if ((hashOf(key) & this.#mask) === 0) continue;
      this.#seen.delete(key);
      this.#cells -= size;
    }
  }
}

/** Returns a hash of the end of a key, where keys differ most. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - 12); at < key.length; at += 1)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
