import type { RequestFileCheck } from './request-file.ts';

const FEWEST_SLOTS = 2 ** 13;
const LARGE = 2 ** 19;
const LOAD = 0.75;

/**
 * A map from tokens to numbers above 0. A slot contains only the words of the token's hash and the number, four bytes
 * each. A map of strings would take ten times the memory for millions of tokens.
 */
export class TokenTable {
  /** Whether a token was left out because there were too many. */
  isFull = false;
  readonly #words: number;
  readonly #fields: number;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  #free: number;
  // The hash of the token found last. Reusing one array avoids millions of allocations.
  readonly #hash = new Int32Array(3);

  /**
   * Creates a table. `words` is the number of 32-bit words of hash that distinguish tokens, and `mostSlots` limits
   * growth.
   */
  constructor({ words, mostSlots = Infinity }: { words: 2 | 3; mostSlots?: number }) {
    this.#words = words;
    this.#fields = words + 1;
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(FEWEST_SLOTS, mostSlots);
    this.#table = new Int32Array(this.#slots * this.#fields);
    this.#free = Math.floor(this.#slots * LOAD);
  }

  /** Returns the slot of a token, or the empty slot where it belongs. Valid until the next `put`. */
  find(token: string): number {
    hashToken(this.#hash, token);
    const [first = 0, second = 0, third = 0] = this.#hash;
    return this.#slotOf(first, second, third);
  }

  /** Works like `find`, but takes two words of a token's hash. */
  findHash(first: number, second: number): number {
    this.#hash[0] = first;
    this.#hash[1] = second;
    return this.#slotOf(first, second, 0);
  }

  /** Returns the number in a slot, or 0 for an empty slot. */
  valueAt(slot: number): number {
    return this.#table[slot + this.#words] ?? 0;
  }

  /** Stores the number of the token that was found last, in its slot. */
  put(slot: number, value: number): void {
    if (this.valueAt(slot) !== 0) {
      this.#table[slot + this.#words] = value;
      return;
    }
    if (this.#free === 0) {
      this.isFull = true;
      return;
    }
    this.#insert(slot, this.#hash, 0, value);
    if (this.#free === 0 && this.#slots < this.#mostSlots) this.#grow();
  }

  #insert(slot: number, hashes: Int32Array, at: number, value: number): void {
    const table = this.#table;
    table[slot] = hashes[at] ?? 0;
    table[slot + 1] = hashes[at + 1] ?? 0;
    if (this.#words === 3) table[slot + 2] = hashes[at + 2] ?? 0;
    table[slot + this.#words] = value;
    this.#free -= 1;
  }

  #slotOf(first: number, second: number, third: number): number {
    const table = this.#table;
    const words = this.#words;
    const start = ((first ^ (first >>> 15)) & 0x7fffffff) % this.#slots;
    for (let at = start * this.#fields; ; at += this.#fields) {
      if (at === table.length) at = 0;
      if (table[at + words] === 0) return at;
      if (table[at] === first && table[at + 1] === second && (words === 2 || table[at + 2] === third)) return at;
    }
  }

  #grow(): void {
    const old = this.#table;
    // Large tables grow in smaller steps to waste less memory.
    this.#slots = Math.min(this.#slots * (this.#slots < LARGE ? 8 : 1.5), this.#mostSlots);
    this.#table = new Int32Array(this.#slots * this.#fields);
    this.#free = Math.floor(this.#slots * LOAD);
    for (let at = 0; at < old.length; at += this.#fields) {
      const value = old[at + this.#words] ?? 0;
      if (value !== 0) this.#insert(this.#slotOf(old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0), old, at, value);
    }
  }
}

/** Writes the three words of a token's hash to `hash`. */
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
  hash[2] = third;
}

const KEPT = 20;
const FIELDS = 3; // two words of hash, and the line
const BATCH = 256;
/** The limit on different tokens, which is more than one upload takes. */
const MOST_TOKENS = 2 ** 19;

/**
 * Finds repeated tokens in bounded memory. After 524,288 different tokens it stops comparing, and reports the last line
 * that it compared.
 */
export class RepeatedTokens {
  readonly #first: { line: number; firstLine: number }[] = [];
  #count = 0;
  #comparedTo: number | undefined;
  readonly #table: TokenTable;
  // A batch of tokens to look up. Slots are far apart in memory, and lookups in batches let the processor wait for
  // several slots at once.
  readonly #batch = new Int32Array(BATCH * FIELDS);
  #length = 0;

  constructor(most = MOST_TOKENS) {
    this.#table = new TokenTable({ words: 2, mostSlots: Math.ceil(most / LOAD) });
  }

  /** Adds the token between `start` and `end` of `bytes`, found on `line`. */
  add(bytes: DataView, start: number, end: number, line: number): void {
    if (this.#comparedTo !== undefined) return;
    let low = (end - start) | 0;
    let high = 0x9e3779b9 | 0;
    let at = start;
    for (; at + 8 <= end; at += 8) {
      low = Math.imul(low ^ bytes.getInt32(at, true), 0x85ebca6b);
      high = Math.imul(high ^ bytes.getInt32(at + 4, true), 0xc2b2ae35);
      low ^= high >>> 15;
      high ^= low >>> 13;
    }
    for (; at < end; at += 1) {
      low = Math.imul(low ^ bytes.getUint8(at), 0x85ebca6b);
      high = Math.imul(high ^ (low >>> 15), 0xc2b2ae35);
    }
    const batch = this.#batch;
    batch[this.#length] = Math.imul(low ^ (high >>> 16), 0x27d4eb2f);
    batch[this.#length + 1] = high;
    batch[this.#length + 2] = line;
    this.#length += FIELDS;
    if (this.#length === batch.length) this.#settle();
  }

  found(): RequestFileCheck['duplicates'] {
    this.#settle();
    return { count: this.#count, first: this.#first, comparedTo: this.#comparedTo };
  }

  #settle(): void {
    for (let at = 0; at < this.#length && this.#comparedTo === undefined; at += FIELDS) this.#compare(at);
    this.#length = 0;
  }

  #compare(at: number): void {
    const table = this.#table;
    const line = this.#batch[at + 2] ?? 0;
    const slot = table.findHash(this.#batch[at] ?? 0, this.#batch[at + 1] ?? 0);
    const firstLine = table.valueAt(slot);
    if (firstLine > 0) {
      this.#count += 1;
      if (this.#first.length < KEPT) this.#first.push({ line, firstLine });
      return;
    }
    table.put(slot, line);
    if (table.isFull) this.#comparedTo = line - 1;
  }
}
