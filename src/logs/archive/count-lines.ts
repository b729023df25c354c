import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { type Bucket, bucketOf, emptyBucket, HOUR_MS, type Interval } from '../count.ts';
import { COUNTED } from './index/tally.ts';
import { holdsAt, LineClock, LineScanner } from './line-scanner.ts';
import { readLine } from './read-segment.ts';

/** The index of `created_at` in the scanner's results, after the members that entries are counted by. */
const TIME = COUNTED.length;

/** Entries of one hour whose counted members have the same bytes. */
interface Group {
  readonly hour: number;
  readonly values: readonly (Buffer | undefined)[];
  readonly bucket: Bucket;
}

/** The most groups kept in memory before they are passed on. */
const MAX_GROUPS = 20_000;
/** The prime of the hash FNV-1a. */
const PRIME = 16_777_619;

export interface CountOptions extends Interval {
  /** Called with the common values of a group and its bucket, in no certain order. A group may be passed on in parts. */
  readonly onGroup: (log: Log, bucket: Bucket) => unknown;
}

/** Counts entries by the bytes of their lines, grouped by hour and by all counted members. */
export class LineCounter {
  readonly #options: CountOptions;
  readonly #scanner: LineScanner;
  readonly #clock = new LineClock();
  readonly #groups = new Map<number, Group>();

  /** The first names of a given scanner must be the counted members and `created_at`. */
  constructor(options: CountOptions, scanner = new LineScanner([...COUNTED, 'created_at'])) {
    this.#scanner = scanner;
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
    const start = this.#scanner.starts[TIME] ?? -1;
    const end = this.#scanner.ends[TIME] ?? -1;
    const at = start === -1 ? undefined : this.#clock.read(block, start, end);
    if (at !== undefined && this.#isWithin(at)) this.countLine(block, at);
  }

  /** Counts the line that was just scanned. Returns an object that identifies its group until the group is passed on. */
  countLine(block: Buffer, at: number): object {
    const { bucket } = this.#groupOf(block, Math.floor(at / HOUR_MS));
    bucket.count += 1;
    if (at < bucket.first) bucket.first = at;
    if (at > bucket.last) bucket.last = at;
    return bucket;
  }

  #groupOf(block: Buffer, hour: number): Group {
    const { starts, ends } = this.#scanner;
    let hash = hour | 0;
    for (let slot = 0; slot < TIME; slot += 1) hash = hashOf(block, starts[slot] ?? -1, ends[slot] ?? -1, hash);
    for (;;) {
      const group = this.#groups.get(hash);
      if (group === undefined) return this.#begin(block, hash, hour);
      if (group.hour === hour && this.#hasValues(block, group)) return group;
      hash += 1;
    }
  }

  #hasValues(block: Buffer, { values }: Group): boolean {
    const { starts, ends } = this.#scanner;
    for (let index = 0; index < TIME; index += 1) {
      const value = values[index];
      const start = starts[index] ?? -1;
      const end = ends[index] ?? -1;
      const isSame = value === undefined ? start === -1 : value.length === end - start && holdsAt(block, start, value);
      if (!isSame) return false;
    }
    return true;
  }

  #begin(block: Buffer, hash: number, hour: number): Group {
    if (this.#groups.size >= MAX_GROUPS) this.flush();
    const { starts, ends } = this.#scanner;
    const values = COUNTED.map((_, index) =>
      starts[index] === -1 ? undefined : Buffer.from(block.subarray(starts[index], ends[index])),
    );
    const group = { hour, values, bucket: emptyBucket() };
    this.#groups.set(hash, group);
    return group;
  }

  #isWithin(at: number): boolean {
    return at >= this.#options.since && at < this.#options.until;
  }
}

/** Continues a hash with four bytes at a time, because each multiplication has to wait for the previous one. */
function hashOf(block: Buffer, start: number, end: number, seed: number): number {
  let hash = seed ^ (start === -1 ? -1 : end - start);
  for (let at = start; at !== -1 && at < end; at += 4) {
    const word =
      (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8) | ((block[at + 2] ?? 0) << 16) | ((block[at + 3] ?? 0) << 24);
    hash = Math.imul(hash ^ word, PRIME);
    hash ^= hash >>> 15;
  }
  return hash;
}
