import { hashToken } from './token-table.ts';

/**
 * The number of 32-bit words of hash per token. A shorter hash could drop a row as a repeat, and the error would not be
 * noticed.
 */
const WORDS = 3;
const FEWEST_SLOTS = 2 ** 13;
/** The limit on slots: about three million different tokens, as many as ten jobs take, in 48 MiB. */
const MOST_SLOTS = 2 ** 22;
const LOAD = 0.8;

/**
 * A set of tokens by their hashes. Takes 15 bytes per token if the number of tokens is known; a set of strings takes
 * ten times as much.
 */
export class TokenSet {
  /** Whether a token was left out because there were too many. */
  isFull = false;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  #free: number;
  readonly #hash = new Int32Array(WORDS);

  /** Creates a set with room for `expected` tokens. It grows when there are more. */
  constructor(expected = 0, mostSlots = MOST_SLOTS) {
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(Math.max(Math.ceil(expected / LOAD), FEWEST_SLOTS), mostSlots);
    this.#table = new Int32Array(this.#slots * WORDS);
    this.#free = Math.floor(this.#slots * LOAD);
  }

  /** Adds a token. Returns false for a token that is already in the set, or if the set is full. */
  add(token: string): boolean {
    hashToken(this.#hash, token);
    const [first = 0, second = 0, third = 0] = this.#hash;
    // A last word of 0 marks an empty slot, so used slots get an odd word.
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
