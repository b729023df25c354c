import { hashToken } from './token-table.ts';

/** Three words of hash a token: a row that is taken for repeated by mistake would not be missed. */
const WORDS = 3;
const FEWEST_SLOTS = 2 ** 13;
/** About three million different tokens, as many as ten jobs take, in 48 MiB. */
const MOST_SLOTS = 2 ** 22;
const LOAD = 0.8;

/** A set of tokens by their hashes, in 15 bytes each where their number is known. A set of strings takes ten times that. */
export class TokenSet {
  /** Whether a token was left out because there were too many. */
  isFull = false;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  #free: number;
  readonly #hash = new Int32Array(WORDS);

  /** With room for `expected` tokens; it grows where there are more. */
  constructor(expected = 0, mostSlots = MOST_SLOTS) {
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(Math.max(Math.ceil(expected / LOAD), FEWEST_SLOTS), mostSlots);
    this.#table = new Int32Array(this.#slots * WORDS);
    this.#free = Math.floor(this.#slots * LOAD);
  }

  /** Adds a token; returns false where it was there before, or where there is no room left. */
  add(token: string): boolean {
    hashToken(this.#hash, token);
    const [first = 0, second = 0, third = 0] = this.#hash;
    // The last word of a slot in use is never 0.
    const isNew = this.#put(first, second, third | 1);
    if (isNew && this.#free === 0 && this.#slots < this.#mostSlots) this.#grow();
    return isNew;
  }

  #put(first: number, second: number, third: number): boolean {
    const table = this.#table;
    const start = ((first ^ (first >>> 15)) & 0x7fffffff) % this.#slots;
    for (let at = start * WORDS; ; at += WORDS) {
      if (at === table.length) at = 0;
      if (table[at + 2] === 0) {
        if (this.#free === 0) {
          this.isFull = true;
          return false;
        }
        table[at] = first;
        table[at + 1] = second;
        table[at + 2] = third;
        this.#free -= 1;
        return true;
      }
      if (table[at] === first && table[at + 1] === second && table[at + 2] === third) return false;
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#slots = Math.min(Math.ceil(this.#slots * 1.5), this.#mostSlots);
    this.#table = new Int32Array(this.#slots * WORDS);
    this.#free = Math.floor(this.#slots * LOAD);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + 2] !== 0) this.#put(old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0);
    }
  }
}
