// Reads chosen members of archived lines without JSON.parse, in a tenth of its time, and counts entries by them.

import { parseTime } from '../../cli/output/time.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { type Bucket, bucketOf, emptyBucket, type Interval } from '../count.ts';
import { readLine } from './read-segment.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const ZULU = 0x5a;
const NULL = Buffer.from('null');
const LINE_END = 0x0a;
/** The largest number of remembered names, and of the bytes of a name. */
const MAX_NAMES = 64;

/** The place of a member's value in the last scanned line. */
export interface ScannedMember {
  /** The offset of the value in the block, without quotes; -1 if it is absent or null. */
  readonly start: number;
  readonly end: number;
}

interface KnownMember extends ScannedMember {
  readonly name: Buffer;
  start: number;
  end: number;
}

/** Finds the values of chosen members in lines of JSON without decoding the lines. */
export class LineScanner {
  readonly #members: KnownMember[] = [];
  /** The names in the first line, with quotes and colon. Most lines have the same names, so comparing is enough. */
  readonly #first: { readonly text: Buffer; readonly member: KnownMember | undefined }[] = [];

  /** Returns the place of a member, which every scan changes. Call it before the first scan. */
  member(name: string): ScannedMember {
    const bytes = Buffer.from(name);
    const known = this.#members.find((each) => each.name.equals(bytes));
    if (known !== undefined) return known;
    const member = { name: bytes, start: -1, end: -1 };
    this.#members.push(member);
    return member;
  }

  /** Scans the line at `from` and returns its end; -1 if it is not an object of strings without escapes and nulls. */
  scan(block: Buffer, from: number): number {
    for (const member of this.#members) member.start = -1;
    let at = from;
    if (block[at] !== OPEN) return -1;
    let count = 0;
    do {
      const expected = this.#first[count];
      const isKnown = expected !== undefined && holdsAt(block, at + 1, expected.text);
      if (!isKnown && block[at + 1] !== QUOTE) return -1;
      const colon = isKnown ? at + expected.text.length : endOfString(block, at + 2) + 1;
      if (colon === 0 || block[colon] !== COLON) return -1;
      const member = isKnown ? expected.member : this.#memberNamed(block, at + 2, colon - 1);
      if (expected === undefined && count < MAX_NAMES && colon - at < MAX_NAMES)
        this.#first[count] = { text: Buffer.from(block.subarray(at + 1, colon + 1)), member };
      count += 1;
      const start = colon + 2;
      const isString = block[colon + 1] === QUOTE;
      const end = isString ? endOfString(block, start) : endOfNull(block, colon + 1);
      if (end === -1) return -1;
      // The last of several members with the same name counts, as with `JSON.parse`.
      if (member !== undefined) {
        member.start = isString ? start : -1;
        member.end = end;
      }
      at = isString ? end + 1 : end;
    } while (block[at] === COMMA);
    return block[at] === CLOSE && block[at + 1] === LINE_END ? at + 1 : -1;
  }

  /**
   * Scans each line of a block of complete lines of the segment at `path`, and then calls `onLine`: with the entry, if its
   * line has to be parsed. @throws SvcError `checksum_mismatch` for a line that is not an entry
   */
  read(block: Buffer, path: string, onLine: (parsed: Log | undefined) => void): void {
    for (let at = 0; at < block.length; at += 1) {
      let end = this.scan(block, at);
      if (end !== -1) onLine(undefined);
      else {
        end = block.indexOf(LINE_END, at);
        onLine(readLine(path, block.toString('utf8', at, end)));
      }
      at = end;
    }
  }

  #memberNamed(block: Buffer, start: number, end: number): KnownMember | undefined {
    return this.#members.find(({ name }) => name.length === end - start && holdsAt(block, start, name));
  }
}

/** Returns the end of a string; -1 if it has an escape. */
function endOfString(block: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    const byte = block[at] ?? 0;
    if (byte > QUOTE && byte !== BACKSLASH) continue;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte < SPACE) return -1;
  }
}

function endOfNull(block: Buffer, start: number): number {
  return holdsAt(block, start, NULL) ? start + NULL.length : -1;
}

export function holdsAt(block: Buffer, start: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index += 1) if (block[start + index] !== text[index]) return false;
  return true;
}

const MINUTE = '2026-01-31T09:00:'.length;

/** Parses times like `parseTime`, but only the seconds of a time in the same minute as the previous one. */
export class LineClock {
  #minute = Buffer.alloc(0);
  #base = 0;

  read(block: Buffer, start: number, end: number): number | undefined {
    const isSameMinute = this.#minute.length > 0 && holdsAt(block, start, this.#minute);
    return (isSameMinute ? this.#within(block, start + MINUTE, end) : undefined) ?? this.#parse(block, start, end);
  }

  /** Parses two digits, an optional fraction of any length, and Z; undefined for anything else. */
  #within(block: Buffer, start: number, end: number): number | undefined {
    const tens = digit(block, start);
    const ones = digit(block, start + 1);
    let at = start + 2;
    let ms = 0;
    if (block[at] === POINT) {
      at += 1;
      let unit = 100;
      while (digit(block, at) < 10) {
        ms += unit * digit(block, at);
        unit = Math.floor(unit / 10);
        at += 1;
      }
      if (at === start + 3) return undefined;
    }
    if (tens > 5 || ones > 9 || block[at] !== ZULU || at + 1 !== end) return undefined;
    return this.#base + (tens * 10 + ones) * 1000 + ms;
  }

  #parse(block: Buffer, start: number, end: number): number | undefined {
    const text = block.toString('utf8', start, end);
    const minute = text.slice(0, MINUTE);
    const last = parseTime(`${minute}59.999Z`);
    this.#minute = Buffer.from(last === undefined ? '' : minute);
    this.#base = (last ?? 0) - 59_999;
    return parseTime(text);
  }
}

/** Returns the value of a digit; 10 for any other byte. */
function digit(block: Buffer, at: number): number {
  const byte = block[at] ?? 0;
  return byte >= ZERO && byte <= NINE ? byte - ZERO : 10;
}

/** The members by which entries are counted, besides the hour. */
const COUNTED = ['entity_type', 'operation', 'actor_type', 'actor_id'] as const;

/** Entries of one hour whose counted members have the same bytes. */
interface Group {
  readonly hour: number;
  /** The bytes of each counted member, or undefined for entries without it. */
  readonly values: readonly (Buffer | undefined)[];
  readonly bucket: Bucket;
}

/** The most groups kept in memory before they are passed on. */
const MAX_GROUPS = 20_000;

export interface CountOptions extends Interval {
  /** Called with the common values of a group and its bucket, in no certain order. A group may be passed on in parts. */
  readonly onGroup: (log: Log, bucket: Bucket) => unknown;
}

/** Counts entries by the bytes of their lines, grouped by hour and by all counted members. */
export class LineCounter {
  readonly #options: CountOptions;
  readonly #scanner = new LineScanner();
  readonly #time: ScannedMember;
  readonly #counted: readonly ScannedMember[];
  readonly #clock = new LineClock();
  /** The groups by their hash, or by the next free number after it. */
  readonly #groups = new Map<number, Group>();

  constructor(options: CountOptions) {
    this.#time = this.#scanner.member('created_at');
    this.#counted = COUNTED.map((name) => this.#scanner.member(name));
    this.#options = options;
  }

  /** Counts a block of complete lines of the segment at `path`. @throws SvcError `checksum_mismatch` for a line that is not an entry */
  add(block: Buffer, path: string): void {
    this.#scanner.read(block, path, (log) => (log === undefined ? this.#count(block) : this.addEntry(log)));
  }

  addEntry(log: Log): void {
    const at = parseTime(log.created_at);
    if (at === undefined || !this.#isWithin(at)) return;
    this.flush();
    this.#options.onGroup(log, bucketOf(at));
  }

  /** Passes on all groups in memory. */
  flush(): void {
    for (const { values, bucket } of this.#groups.values()) {
      const [entity_type, operation, actor_type, actor_id] = values.map((value) => value?.toString() ?? null);
      this.#options.onGroup({ entity_type, operation, actor_type, actor_id, created_at: '' }, bucket);
    }
    this.#groups.clear();
  }

  #count(block: Buffer): void {
    const { start, end } = this.#time;
    const at = start === -1 ? undefined : this.#clock.read(block, start, end);
    if (at !== undefined && this.#isWithin(at)) this.#countLine(block, at);
  }

  /** Counts the line that was just scanned. */
  #countLine(block: Buffer, at: number): void {
    const { bucket } = this.#groupOf(block, Math.floor(at / HOUR_MS));
    bucket.count += 1;
    if (at < bucket.first) bucket.first = at;
    if (at > bucket.last) bucket.last = at;
  }

  #groupOf(block: Buffer, hour: number): Group {
    let hash = hour;
    for (const member of this.#counted) hash = hashOf(block, member, hash);
    for (let number = hash; ; number += 1) {
      const group = this.#groups.get(number);
      if (group === undefined) return this.#begin(block, number, hour);
      if (group.hour === hour && this.#hasValues(block, group)) return group;
    }
  }

  #hasValues(block: Buffer, { values }: Group): boolean {
    return this.#counted.every(({ start, end }, index) => {
      const value = values[index];
      return value === undefined ? start === -1 : value.length === end - start && holdsAt(block, start, value);
    });
  }

  #begin(block: Buffer, number: number, hour: number): Group {
    if (this.#groups.size >= MAX_GROUPS) this.flush();
    const values = this.#counted.map(({ start, end }) =>
      start === -1 ? undefined : Buffer.from(block.subarray(start, end)),
    );
    const group = { hour, values, bucket: emptyBucket() };
    this.#groups.set(number, group);
    return group;
  }

  #isWithin(at: number): boolean {
    return at >= this.#options.since && at < this.#options.until;
  }
}

/** Returns `hash` mixed with a value. Four bytes at a time take a fourth of the time of single bytes. */
function hashOf(block: Buffer, { start, end }: ScannedMember, hash: number): number {
  if (start === -1) return mixed(hash, -1);
  let result = mixed(hash, end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) result = mixed(result, wordAt(block, at));
  let rest = 0;
  for (; at < end; at += 1) rest = (rest << 8) | (block[at] ?? 0);
  return mixed(result, rest);
}

function wordAt(block: Buffer, at: number): number {
  return (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8) | ((block[at + 2] ?? 0) << 16) | ((block[at + 3] ?? 0) << 24);
}

/** The prime of the hash FNV-1a. */
const PRIME = 16_777_619;

/** Mixes a hash with 32 bits, like FNV-1a with 8. The shift lets high bits change low ones, as the product does not. */
function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, PRIME);
  return product ^ (product >>> 15);
}
