const FEWEST_SLOTS = 2 ** 12;
const LARGE = 2 ** 20;
const LOAD = 0.75;

/** How a table remembers tokens. */
export interface TokenTableOptions {
  /** How many 32-bit words of hash tell two tokens apart. */
  readonly words: 2 | 3;
  /** The table grows to this many slots. */
  readonly mostSlots?: number | undefined;
}

/**
 * A number above 0 for each token, found by the token's hash: four bytes a slot for each word of the hash, and four for
 * the number. A map of strings would take ten times the memory for millions of tokens.
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
  // The hash of the last token found: without a new object for each of millions of tokens.
  readonly #hash = new Int32Array(3);

  constructor({ words, mostSlots = Infinity }: TokenTableOptions) {
    this.#words = words;
    this.#fields = words + 1;
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(FEWEST_SLOTS, mostSlots);
    this.#table = new Int32Array(this.#slots * this.#fields);
    this.#free = this.#slots * LOAD;
  }

  /** The slot of the token, or the empty one for it. Valid until the next `put`. */
  find(token: string): number {
    hashInto(this.#hash, token);
    return this.#slotOf(this.#hash);
  }

  /** The number in a slot; 0 where it is empty. */
  valueAt(slot: number): number {
    return this.#table[slot + this.#words] ?? 0;
  }

  /** Sets the number of the token found last, in its slot. */
  put(slot: number, value: number): void {
    if (this.valueAt(slot) !== 0) {
      this.#table[slot + this.#words] = value;
      return;
    }
    if (this.#free === 0) {
      this.isFull = true;
      return;
    }
    this.#insert(slot, this.#hash, value);
    if (this.#free === 0 && this.#slots < this.#mostSlots) this.#grow();
  }

  #insert(slot: number, hash: Int32Array, value: number): void {
    for (let word = 0; word < this.#words; word += 1) this.#table[slot + word] = hash[word] ?? 0;
    this.#table[slot + this.#words] = value;
    this.#free -= 1;
  }

  #slotOf(hash: Int32Array): number {
    const table = this.#table;
    const [first, second, third] = [hash[0] ?? 0, hash[1] ?? 0, hash[2] ?? 0];
    const words = this.#words;
    const start = ((first ^ (first >>> 15)) >>> 0) % this.#slots;
    for (let at = start * this.#fields; ; at += this.#fields) {
      if (at === table.length) at = 0;
      if (table[at + words] === 0) return at;
      if (table[at] === first && table[at + 1] === second && (words === 2 || table[at + 2] === third))
        return at;
    }
  }

  #grow(): void {
    const old = this.#table;
    // A large table is not made larger than it need be.
    this.#slots = Math.min(this.#slots * (this.#slots < LARGE ? 4 : 1.5), this.#mostSlots);
    this.#table = new Int32Array(this.#slots * this.#fields);
    this.#free = this.#slots * LOAD;
    const hash = new Int32Array(3);
    for (let at = 0; at < old.length; at += this.#fields) {
      const value = old[at + this.#words] ?? 0;
      if (value === 0) continue;
      for (let word = 0; word < this.#words; word += 1) hash[word] = old[at + word] ?? 0;
      this.#insert(this.#slotOf(hash), hash, value);
    }
  }
}

function hashInto(hash: Int32Array, token: string): void {
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
