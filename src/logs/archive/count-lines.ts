import { parseTime } from '../../cli/output/time.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { type Bucket, bucketOf, emptyBucket, type Interval } from '../count.ts';
import { holdsAt, LineClock, LineScanner, type ScannedMember } from './line-scanner.ts';
import { readLine } from './read-segment.ts';

/** The members that entries are counted by, in addition to the hour. */
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
    for (let at = 0; at < block.length; at += 1) {
      let end = this.#scanner.scan(block, at);
      if (end !== -1) this.#count(block);
      else {
        end = block.indexOf('\n', at);
        this.addEntry(readLine(path, block.toString('utf8', at, end)));
      }
      at = end;
    }
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
