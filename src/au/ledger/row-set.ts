// Sets of row keys: 8 bytes for each row, from which no token can be read.

import { hash } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { damagedLedger } from './damage.ts';

/** The size of a key in bytes. */
export const KEY_BYTES = 8;

/** More rows than a job can have: its file has at most 30 MB. */
const MAX_SET_ROWS = 6_000_000;

/** The size of the largest set in bytes. */
export const MAX_SET_BYTES = MAX_SET_ROWS * KEY_BYTES;

/** Returns the salt of a tenant's keys: the same in all of its ledgers, and another for each tenant. */
export function saltOf(tenant: string): string {
  return `${tenant}\0`;
}

/** Returns the key of a row: the first 8 bytes of SHA-256 over the salt and `row`, the `rowKey` of its token and merchant. */
export function keyOfRow(salt: string, row: string): bigint {
  return keyOf(`${salt}${row}`);
}

/** Returns the key of a new token in results. Results name no merchant, so every row with the token has this key. */
export function keyOfNewToken(salt: string, token: string): bigint {
  return keyOf(`${salt}born\0${token}`);
}

/** Returns the key of a token whose account is closed. */
export function keyOfClosedAccount(salt: string, token: string): bigint {
  return keyOf(`${salt}closed\0${token}`);
}

// The key that was made last, also as two halves. Other ways from a hash to a number take longer for millions of rows.
const lastKey = new BigUint64Array(1);
const lastHalves = halvesOf(lastKey);

function keyOf(text: string): bigint {
  // One character is one byte. Node makes this string faster than a buffer.
  const digest = hash('sha256', text, 'binary');
  lastHalves[HIGH] = halfAt(digest, 0);
  lastHalves[1 - HIGH] = halfAt(digest, 4);
  return lastKey[0] ?? 0n;
}

/** Reads four characters as a 32-bit number. */
function halfAt(digest: string, at: number): number {
  const high = (digest.charCodeAt(at) << 8) | digest.charCodeAt(at + 1);
  return (high << 16) | (digest.charCodeAt(at + 2) << 8) | digest.charCodeAt(at + 3);
}

/** Collects keys in any order, in 8 bytes of memory each. */
export class RowSetBuilder {
  readonly #salt: string;
  #keys = new BigUint64Array(1024);
  #size = 0;

  constructor(salt: string) {
    this.#salt = salt;
  }

  add(key: bigint): void {
    if (this.#size === this.#keys.length) {
      const larger = new BigUint64Array(2 * this.#size);
      larger.set(this.#keys);
      this.#keys = larger;
    }
    this.#keys[this.#size] = key;
    this.#size += 1;
  }

  build(): RowSet {
    return RowSet.of(this.#keys.subarray(0, this.#size), this.#salt);
  }
}

/** A set of row keys: numbers in ascending order, without repeats. */
export class RowSet {
  readonly keys: BigUint64Array;
  /** The salt of the keys. */
  readonly salt: string;

  private constructor(keys: BigUint64Array, salt: string) {
    this.keys = keys;
    this.salt = salt;
  }

  /** Makes a set of keys in any order. Repeated keys count once. */
  static of(keys: Iterable<bigint>, salt: string): RowSet {
    const sorted = keys instanceof BigUint64Array ? keys.toSorted() : BigUint64Array.from(keys).toSorted();
    return new RowSet(withoutRepeats(sorted), salt);
  }

  /** Reads a set. `name` is its place in messages. @throws SvcError `config` if the bytes are no set */
  static parse(bytes: Uint8Array, name: string, salt: string): RowSet {
    if (bytes.byteLength % KEY_BYTES !== 0) throw damagedLedger(name, 'its size is not a number of rows');
    const keys = new BigUint64Array(bytes.byteLength / KEY_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < keys.length; at += 1) {
      const key = view.getBigUint64(at * KEY_BYTES);
      if (at > 0 && key <= (keys[at - 1] ?? 0n)) throw damagedLedger(name, 'its rows are not in order');
      keys[at] = key;
    }
    return new RowSet(keys, salt);
  }

  get size(): number {
    return this.keys.length;
  }

  has(key: bigint): boolean {
    return this.keys[lowerBound(this.keys, key)] === key;
  }

  /** Counts the keys that are also in another set with the same salt. Both sorted sets are read once, side by side. */
  countShared(other: RowSet): number {
    if (other.salt !== this.salt) throw new SvcError('bug', 'sets of keys with two salts were compared');
    // Each key is read as two halves, because reading it as one number would allocate memory.
    const ours = halvesOf(this.keys);
    const theirs = halvesOf(other.keys);
    let shared = 0;
    let own = 0;
    let their = 0;
    while (own < ours.length && their < theirs.length) {
      const order = compareKeys(ours, own, theirs, their);
      if (order === 0) shared += 1;
      if (order <= 0) own += 2;
      if (order >= 0) their += 2;
    }
    return shared;
  }

  /** Counts the keys that are in none of the sets. Sets with another salt are ignored. */
  countMissingFrom(sets: readonly RowSet[]): number {
    return this.size - this.countShared(RowSet.union(sets, this.salt));
  }

  /** Returns the keys that are in none of the sets. Sets with another salt are ignored. */
  without(sets: readonly RowSet[]): RowSet {
    const others = RowSet.union(sets, this.salt);
    return new RowSet(
      this.keys.filter((key) => !others.has(key)),
      this.salt,
    );
  }

  /** Returns the union of the sets with a salt. */
  static union(all: readonly RowSet[], salt: string): RowSet {
    const sets = all.filter((set) => set.salt === salt);
    const [first] = sets;
    if (first !== undefined && sets.length === 1) return first;
    const keys = new BigUint64Array(sets.reduce((sum, { size }) => sum + size, 0));
    let at = 0;
    for (const set of sets) {
      keys.set(set.keys, at);
      at += set.size;
    }
    return RowSet.of(keys, salt);
  }

  /** Returns the index of the first set with a key, or -1. An undefined set has every key. */
  static firstWith(sets: readonly (RowSet | undefined)[], keyUnder: (salt: string) => bigint): number {
    let last: { readonly salt: string; readonly key: bigint } | undefined;
    return sets.findIndex((set) => {
      if (set === undefined) return true;
      if (last?.salt !== set.salt) last = { salt: set.salt, key: keyUnder(set.salt) };
      return set.has(last.key);
    });
  }

  /** Returns the bytes of the set: each key big-endian, in ascending order. */
  bytes(): Uint8Array {
    const bytes = Buffer.from(this.keys.slice().buffer);
    return HIGH === 1 ? bytes.swap64() : bytes;
  }

  /** Returns the name of the set: the SHA-256 of its bytes, hexadecimal. */
  name(): string {
    return sha256Of(this.bytes());
  }
}

/** Removes repeated keys from a sorted array, in place. */
function withoutRepeats(sorted: BigUint64Array): BigUint64Array {
  // Each key is compared as two halves, because reading it as one number would allocate memory.
  const halves = halvesOf(sorted);
  let end = 0;
  for (let at = 0; at < halves.length; at += 2) {
    if (at > 0 && halves[at] === halves[end - 2] && halves[at + 1] === halves[end - 1]) continue;
    halves[end] = halves[at] ?? 0;
    halves[end + 1] = halves[at + 1] ?? 0;
    end += 2;
  }
  return sorted.subarray(0, end / 2);
}

/** Returns the keys as pairs of 32-bit numbers. */
function halvesOf({ buffer, byteOffset, length }: BigUint64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, 2 * length);
}

/** The index of the higher half in a pair, by the byte order of this machine. */
const HIGH = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 1 : 0;

function compareKeys(ours: Uint32Array, own: number, theirs: Uint32Array, their: number): number {
  const high = (ours[own + HIGH] ?? 0) - (theirs[their + HIGH] ?? 0);
  return high === 0 ? (ours[own + 1 - HIGH] ?? 0) - (theirs[their + 1 - HIGH] ?? 0) : high;
}

/** Returns the index of the first key that is not smaller. */
function lowerBound(keys: BigUint64Array, key: bigint): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0n) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
