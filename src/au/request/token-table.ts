// Compact maps and sets for millions of tokens.

const MIN_SLOTS = 2 ** 13;
const LARGE = 2 ** 19;
/** The share of used slots at which a table grows. */
const LOAD = 0.8;
/** The number of 32-bit words in the hash of a token. */
const HASH_WORDS = 3;

interface TableOptions {
  /** False for a set of tokens, which takes four bytes less for each. */
  readonly hasValues?: boolean;
  /** The expected number of tokens. The table grows if there are more. */
  readonly expected?: number;
  readonly mostSlots?: number;
}

/**
 * A map from tokens to numbers above 0. A `Map` with millions of tokens takes ten times as much memory.
 *
 * All slots are in one array. A used slot contains words of the token's hash, and the value. The hash selects the slot
 * where the search for a token begins, which continues to the next empty slot.
 */
export class TokenTable {
  /** Whether a token was left out because the table is full. */
  isFull = false;
  /** The number of tokens. */
  size = 0;
  readonly #slotLength: number;
  /** The index of the word that is 0 only in an empty slot: the value, or without values the last word of the hash. */
  readonly #mark: number;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  /** The hash of `#hashed`, the last token. Reusing one array avoids millions of allocations. */
  readonly #hash = new Int32Array(HASH_WORDS);
  #hashed: string | undefined;

  constructor({ hasValues = true, expected = 0, mostSlots = Infinity }: TableOptions = {}) {
    this.#slotLength = hasValues ? HASH_WORDS + 1 : HASH_WORDS;
    this.#mark = this.#slotLength - 1;
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(Math.max(slotsFor(expected), MIN_SLOTS), mostSlots);
    this.#table = new Int32Array(this.#slots * this.#slotLength);
  }

  /** Returns the value of a token, or 0 for a token that is not in the table. */
  get(token: string): number {
    return this.#markAt(this.#slotOf(this.hashOf(token), 0));
  }

  /** Sets the value of a token. Leaves out a new token if the table is full. */
  set(token: string, value: number): void {
    this.setHash(this.hashOf(token), value);
  }

  /** Works like `set`, for a token whose hash begins at `at` in `hashes`. */
  setHash(hashes: Int32Array, value: number, at = 0): void {
    const slot = this.#slotOf(hashes, at);
    if (this.#markAt(slot) === 0) this.#add(slot, hashes, value, at);
    else this.#table[slot + HASH_WORDS] = value;
  }

  /** Sets the value of a token that is not in the table. Returns the value that it had before, or 0. */
  setIfAbsent(token: string, value: number): number {
    return this.setHashIfAbsent(this.hashOf(token), value);
  }

  /** Works like `setIfAbsent`, for a token whose hash begins at `at` in `hashes`. */
  setHashIfAbsent(hashes: Int32Array, value: number, at = 0): number {
    const slot = this.#slotOf(hashes, at);
    const before = this.#markAt(slot);
    if (before === 0) this.#add(slot, hashes, value, at);
    return before;
  }

  /** Removes all tokens. */
  clear(): void {
    if (this.size > 0) this.#table.fill(0);
    this.size = 0;
    this.isFull = false;
  }

  /** Returns the hash of a token, which is valid until the next call. */
  hashOf(token: string): Int32Array {
    if (token !== this.#hashed) hashToken(this.#hash, token);
    this.#hashed = token;
    return this.#hash;
  }

  #markAt(slot: number): number {
    return this.#table[slot + this.#mark] ?? 0;
  }

  /** Returns where the slot with a hash begins, or the empty slot where it belongs. */
  #slotOf(hashes: Int32Array, at: number): number {
    const table = this.#table;
    const first = hashes[at] ?? 0;
    const second = hashes[at + 1];
    const third = hashes[at + 2];
    const start = ((first ^ (first >>> 15)) & 0x7fffffff) % this.#slots;
    for (let slot = start * this.#slotLength; ; slot += this.#slotLength) {
      if (slot === table.length) slot = 0;
      if (this.#markAt(slot) === 0) return slot;
      if (table[slot] === first && table[slot + 1] === second && table[slot + 2] === third) return slot;
    }
  }

  #add(slot: number, hashes: Int32Array, value: number, at = 0): void {
    const maxSize = Math.floor(this.#slots * LOAD);
    if (this.size === maxSize) {
      this.isFull = true;
      return;
    }
    this.#fill(slot, hashes, at, value);
    this.size += 1;
    if (this.size === maxSize && this.#slots < this.#mostSlots) this.#grow();
  }

  #fill(slot: number, hashes: Int32Array, at: number, value: number): void {
    const table = this.#table;
    table[slot + this.#mark] = value;
    table[slot] = hashes[at] ?? 0;
    table[slot + 1] = hashes[at + 1] ?? 0;
    table[slot + 2] = hashes[at + 2] ?? 0;
  }

  #grow(): void {
    const old = this.#table;
    // Large tables grow in smaller steps to waste less memory.
    this.#slots = Math.min(Math.ceil(this.#slots * (this.#slots < LARGE ? 8 : 1.5)), this.#mostSlots);
    this.#table = new Int32Array(this.#slots * this.#slotLength);
    for (let at = 0; at < old.length; at += this.#slotLength) {
      const value = old[at + this.#mark] ?? 0;
      if (value !== 0) this.#fill(this.#slotOf(old, at), old, at, value);
    }
  }
}

/** Returns the number of slots for a number of tokens. */
function slotsFor(tokens: number): number {
  return Math.ceil(tokens / LOAD);
}

/** Writes the three words of a token's hash to `hash`. The last one is never 0. */
export function hashToken(hash: Int32Array, token: string): void {
  let first = token.length | 0;
  let second = 0x9e3779b9 | 0;
  let third = 0x165667b1 | 0;
  for (let at = 0; at < token.length; at += 1) {
    const unit = token.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x85ebca6b);
    second = Math.imul(second ^ unit, 0xc2b2ae35);
    third = Math.imul(third ^ unit, 0x27d4eb2f);
    first ^= second >>> 15;
    second ^= third >>> 13;
    third ^= first >>> 16;
  }
  hash[0] = Math.imul(first ^ (second >>> 16), 0x27d4eb2f);
  hash[1] = second;
  hash[2] = third | 1;
}
