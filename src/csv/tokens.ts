import type { Duplicate } from './request-file.ts';

const KEPT = 20;
const FIELDS = 3; // two halves of a 64-bit hash, and the line of the first row; line 0 marks an empty slot
const FEWEST = 2 ** 13;
const MOST = 2 ** 19;
const WAITING = 256;

/**
 * Remembers tokens by a 64-bit hash, to tell when one comes again. Memory is bounded, 12 bytes a slot and three slots
 * for two tokens: once 524,288 different tokens were met (more than one upload takes) it looks no further, and says so.
 */
export class Tokens {
  readonly first: Duplicate[] = [];
  count = 0;
  /** The last line that was compared, once there were too many tokens. */
  comparedTo: number | undefined;
  readonly #most: number;
  /** How many tokens the table takes: a power of two. */
  #room: number;
  #table: Int32Array;
  #free: number;
  // Slots lie far apart in memory. Looked up many at a time, the processor waits for several of them at once.
  readonly #waiting = new Int32Array(WAITING * FIELDS);
  #waitingTo = 0;

  /** `most` different tokens are remembered: a power of two. */
  constructor(most = MOST) {
    this.#most = most;
    this.#room = Math.min(FEWEST, most);
    this.#table = tableFor(this.#room);
    this.#free = this.#room;
  }

  /** Takes in the token that is at `start` to `end` of `bytes`, seen on `line`. */
  add(bytes: DataView, start: number, end: number, line: number): void {
    if (this.comparedTo !== undefined) return;
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
    this.#wait(Math.imul(low ^ (high >>> 16), 0x27d4eb2f), high, line);
  }

  /** Looks up the tokens taken in last; before it, `count` and `first` may lag behind. */
  settle(): void {
    const waiting = this.#waiting;
    for (let at = 0; at < this.#waitingTo && this.comparedTo === undefined; at += FIELDS)
      this.#look(waiting[at] ?? 0, waiting[at + 1] ?? 0, waiting[at + 2] ?? 0);
    this.#waitingTo = 0;
  }

  #wait(low: number, high: number, line: number): void {
    const at = this.#waitingTo;
    this.#waiting[at] = low;
    this.#waiting[at + 1] = high;
    this.#waiting[at + 2] = line;
    this.#waitingTo = at + FIELDS;
    if (this.#waitingTo === this.#waiting.length) this.settle();
  }

  #look(low: number, high: number, line: number): void {
    const table = this.#table;
    // Of twice the room, three quarters: the table is that long.
    const slot = (((low ^ (low >>> 15)) & (this.#room * 2 - 1)) * 3) >>> 2;
    for (let at = slot * FIELDS; ; at += FIELDS) {
      if (at === table.length) at = 0;
      const firstLine = table[at + 2] ?? 0;
      if (firstLine === 0) return this.#insert(at, low, high, line);
      if (table[at] === low && table[at + 1] === high) return this.#repeat(line, firstLine);
    }
  }

  #insert(at: number, low: number, high: number, line: number): void {
    if (this.#free === 0) {
      this.comparedTo = line - 1;
      return;
    }
    this.#free -= 1;
    this.#table[at] = low;
    this.#table[at + 1] = high;
    this.#table[at + 2] = line;
    if (this.#free === 0 && this.#room < this.#most) this.#grow();
  }

  #grow(): void {
    const old = this.#table;
    // In few steps: the tables before this one may stay in memory for long.
    this.#room = Math.min(this.#room * 8, this.#most);
    this.#table = tableFor(this.#room);
    this.#free = this.#room;
    for (let at = 0; at < old.length; at += FIELDS)
      if (old[at + 2] !== 0) this.#look(old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0);
  }

  #repeat(line: number, firstLine: number): void {
    this.count += 1;
    if (this.first.length < KEPT) this.first.push({ line, firstLine });
  }
}

function tableFor(tokens: number): Int32Array {
  return new Int32Array(tokens * 1.5 * FIELDS);
}
