import type { Duplicate } from './request-file.ts';

const KEPT = 20;
const FIELDS = 3; // two halves of a 64-bit hash, and the line of the first row; line 0 marks an empty slot
const FEWEST_SLOTS = 2 ** 14;
const MOST_SLOTS = 2 ** 20;
const FULL = 0.7;

/**
 * Remembers tokens by a 64-bit hash, to tell when one comes again. Memory is bounded, 12 bytes a slot: past
 * 700,000 different tokens (more than two full uploads) it takes in no more, and says so.
 */
export class Tokens {
  readonly first: Duplicate[] = [];
  count = 0;
  complete = true;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  #free: number;

  /** `mostSlots` is a power of two. */
  constructor(mostSlots = MOST_SLOTS) {
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(FEWEST_SLOTS, mostSlots);
    this.#table = new Int32Array(this.#slots * FIELDS);
    this.#free = Math.floor(this.#slots * FULL);
  }

  /** Takes in the token that is at `start` to `end` of `bytes`, seen on `line`. */
  add(bytes: Uint8Array, start: number, end: number, line: number): void {
    let low = (end - start) | 0;
    let high = 0x9e3779b9 | 0;
    for (let at = start; at < end; at += 4) {
      const word = at + 4 <= end ? fourBytes(bytes, at) : lastBytes(bytes, at, end);
      low = Math.imul(low ^ word, 0x85ebca6b);
      low ^= low >>> 15;
      high = Math.imul(high + word, 0xc2b2ae35);
      high ^= high >>> 13;
    }
    this.#put(Math.imul(low, 0x27d4eb2f), high, line);
  }

  #put(low: number, high: number, line: number): void {
    const table = this.#table;
    for (let slot = (low ^ (low >>> 16)) & (this.#slots - 1); ; slot = (slot + 1) & (this.#slots - 1)) {
      const at = slot * FIELDS;
      const firstLine = table[at + 2] ?? 0;
      if (firstLine === 0) return this.#insert(at, low, high, line);
      if (table[at] === low && table[at + 1] === high) return this.#repeat(line, firstLine);
    }
  }

  #insert(at: number, low: number, high: number, line: number): void {
    if (this.#free === 0) {
      this.complete = false;
      return;
    }
    this.#free -= 1;
    this.#table[at] = low;
    this.#table[at + 1] = high;
    this.#table[at + 2] = line;
    if (this.#free === 0 && this.#slots < this.#mostSlots) this.#grow();
  }

  #grow(): void {
    const old = this.#table;
    this.#slots = Math.min(this.#slots * 4, this.#mostSlots);
    this.#table = new Int32Array(this.#slots * FIELDS);
    this.#free = Math.floor(this.#slots * FULL);
    for (let at = 0; at < old.length; at += FIELDS)
      if (old[at + 2] !== 0) this.#put(old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0);
  }

  #repeat(line: number, firstLine: number): void {
    this.count += 1;
    if (this.first.length < KEPT) this.first.push({ line, firstLine });
  }
}

function fourBytes(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function lastBytes(bytes: Uint8Array, start: number, end: number): number {
  let word = 0;
  for (let at = start; at < end; at += 1) word = (word << 8) | (bytes[at] ?? 0);
  return word;
}
