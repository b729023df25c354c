const FIELDS = 3; // two halves of a 64-bit hash, and how often the token is still to be answered, plus one
const FEWEST_SLOTS = 2 ** 12;
const MOST_SLOTS = 2 ** 22;
const LARGE = 2 ** 20;

/** What the answer to a token turned out to be. */
export type Answered = 'asked' | 'again' | 'stranger';

/**
 * Which tokens were asked for, by a 64-bit hash, in bounded memory: 12 bytes a slot, at most 50 MB. It takes
 * 3,145,728 different tokens; from then on `isFull`, and it can tell nothing more.
 */
export class TokenIndex {
  isFull = false;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  #free: number;
  // The hash last taken: two numbers out of one function, without an object for each of millions of tokens.
  #low = 0;
  #high = 0;

  /** `mostSlots` is a power of two. */
  constructor(mostSlots = MOST_SLOTS) {
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(FEWEST_SLOTS, mostSlots);
    this.#table = new Int32Array(this.#slots * FIELDS);
    this.#free = this.#slots * 0.75;
  }

  /** Takes in a token that was asked for, perhaps not for the first time. */
  ask(token: string): void {
    if (this.isFull) return;
    this.#hash(token);
    const at = this.#find(this.#low, this.#high);
    const left = this.#table[at + 2] ?? 0;
    if (left === 0) this.#insert(at, this.#low, this.#high, 2);
    else this.#table[at + 2] = left + 1;
  }

  /** Takes in an answer: `again` when the token was answered as often as it was asked for before. */
  answer(token: string): Answered {
    this.#hash(token);
    const at = this.#find(this.#low, this.#high);
    const left = this.#table[at + 2] ?? 0;
    if (left === 0) return 'stranger';
    if (left === 1) return 'again';
    this.#table[at + 2] = left - 1;
    return 'asked';
  }

  #hash(token: string): void {
    let low = token.length | 0;
    let high = 0x9e3779b9 | 0;
    for (let at = 0; at < token.length; at += 1) {
      const unit = token.charCodeAt(at);
      low = Math.imul(low ^ unit, 0x85ebca6b);
      high = Math.imul(high ^ unit, 0xc2b2ae35);
      low ^= high >>> 15;
      high ^= low >>> 13;
    }
    this.#low = Math.imul(low ^ (high >>> 16), 0x27d4eb2f);
    this.#high = high;
  }

  /** Where the hash stands in the table, or the empty slot where it would go. */
  #find(low: number, high: number): number {
    const mask = this.#slots - 1;
    for (let slot = (low ^ (low >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * FIELDS;
      if (this.#table[at + 2] === 0 || (this.#table[at] === low && this.#table[at + 1] === high)) return at;
    }
  }

  #insert(at: number, low: number, high: number, left: number): void {
    if (this.#free === 0) {
      this.isFull = true;
      return;
    }
    this.#free -= 1;
    this.#table[at] = low;
    this.#table[at + 1] = high;
    this.#table[at + 2] = left;
    if (this.#free === 0 && this.#slots < this.#mostSlots) this.#grow();
  }

  #grow(): void {
    const old = this.#table;
    // A large table is not made larger than it need be.
    this.#slots = Math.min(this.#slots * (this.#slots < LARGE ? 4 : 2), this.#mostSlots);
    this.#table = new Int32Array(this.#slots * FIELDS);
    this.#free = this.#slots * 0.75;
    for (let at = 0; at < old.length; at += FIELDS) {
      const [low = 0, high = 0, left = 0] = old.subarray(at, at + FIELDS);
      if (left !== 0) this.#insert(this.#find(low, high), low, high, left);
    }
  }
}
