// Finds what somebody should look at on a day: deletions, changes and new actors.

import { isoTime, parseTime } from '../../cli/output/time.ts';
import { DAY_MS, HOUR_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { type Coverage, coveredMs, isoMissing, type MissingRange as Missing } from '../archive/records/coverage.ts';
import { type Bucket, bucketOf, emptyBucket, OTHERS, ValueTally } from '../count.ts';
import type { TimeRange } from '../entry.ts';

/** Entries that differ only in entity and message. Absent members, and times if none is readable, are null; times are RFC 3339. */
export interface ReviewRow extends Readonly<
  Record<'entity_type' | 'operation' | 'actor_type' | 'actor_id', string | null>
> {
  readonly count: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
}

type Kind = Partial<Pick<Log, 'entity_type' | 'operation' | 'actor_type' | 'actor_id'>>;

/** Returns the key under which entries of one row are counted. */
function groupKey({ entity_type, operation, actor_type, actor_id }: Kind): string {
  return JSON.stringify([entity_type ?? null, operation ?? null, actor_type ?? null, actor_id ?? null]);
}

/** Returns rows, the most frequent first. Values after the first thousand are counted as others. */
function groupRows({ buckets }: ValueTally<string, Bucket>): ReviewRow[] {
  return [...buckets].toSorted((one, other) => other[1].count - one[1].count || byFirst(one, other)).map(groupRow);
}

// Rows are sorted by first time too, because the index returns groups in another order than the entries.
function byFirst([a, one]: [string, Bucket], [b, other]: [string, Bucket]): number {
  return one.first - other.first || (a < b ? -1 : 1);
}

/** Returns the row of a key and its bucket. */
function groupRow([key, { count, first, last }]: [string, Bucket]): ReviewRow {
  const names = key === OTHERS ? [OTHERS, null, null, null] : (JSON.parse(key) as (string | null)[]);
  const [entity_type = null, operation = null, actor_type = null, actor_id = null] = names;
  return {
    entity_type,
    operation,
    actor_type,
    actor_id,
    count,
    first_at: timeOrNull(first),
    last_at: timeOrNull(last),
  };
}

/** Returns the first or last time of a bucket; null if none of its entries has a readable time. */
export function timeOrNull(at: number): string | null {
  return Number.isFinite(at) ? isoTime(at) : null;
}

/** The most groups that are counted one by one. All others are one more row. */
export const MAX_GROUPS = 1_000;
/** The entity types whose changes are reported, whoever makes them. */
const GUARDED: ReadonlySet<string> = new Set(['application', 'applications', 'key', 'keys', 'tenant', 'tenants']);

/** Counts what somebody should look at: deletions, and other changes of applications, keys and the tenant. */
export class ChangeCounts {
  readonly #deletions = new ValueTally<string, Bucket>(MAX_GROUPS, emptyBucket);
  readonly #changes = new ValueTally<string, Bucket>(MAX_GROUPS, emptyBucket);

  /** Adds an entry, or a bucket of entries that differ only in their times. */
  add(log: Log, bucket: Bucket): void {
    if (log.operation === 'delete') this.#deletions.add(groupKey(log), bucket);
    else if (log.operation !== 'read' && isGuarded(log)) this.#changes.add(groupKey(log), bucket);
  }

  rows(): { readonly deletions: readonly ReviewRow[]; readonly changes: readonly ReviewRow[] } {
    return { deletions: groupRows(this.#deletions), changes: groupRows(this.#changes) };
  }
}

// A type such as `application_key` consists of two guarded words.
function isGuarded({ entity_type: type }: Log): boolean {
  return (type ?? '')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => GUARDED.has(word));
}

const MAX_SEEN = 100_000;

/** The values of a member on the day, and on the days before. */
export class SeenValues {
  readonly #by: 'actor' | 'operation';
  readonly #before = new Set<string>();
  readonly #today = new ValueTally<string, Bucket>(MAX_SEEN, emptyBucket);

  constructor(by: 'actor' | 'operation') {
    this.#by = by;
  }

  add({ actor_id, actor_type, entity_type, operation }: Log, bucket: Bucket, isToday: boolean): void {
    if (this.#by === 'actor' && typeof actor_id !== 'string') return;
    const key = groupKey(this.#by === 'actor' ? { actor_id, actor_type } : { entity_type, operation });
    if (isToday) this.#today.add(key, bucket);
    else if (this.#before.size <= MAX_SEEN) this.#before.add(key);
  }

  news(): ReviewRow[] | null {
    if (this.#before.size > MAX_SEEN || this.#today.isFull) return null;
    return [...this.#today.buckets]
      .filter(([key]) => !this.#before.has(key))
      .toSorted(byFirst)
      .map(groupRow);
  }
}

/** A range of the day that is not covered, and why. */
interface MissingRange {
  readonly from: string;
  readonly to: string;
  readonly reason: Missing['reason'];
}

/** The findings about one day of an archive. */
export interface DayFindings {
  readonly entries: number;
  /** Entries without a readable time that may be of the day. They are in no hour. */
  readonly timeless: number;
  readonly missing: readonly MissingRange[];
  /** The number of earlier days that are covered. With fewer than seven, nothing is called new. */
  readonly past_days: number;
  readonly deletions: readonly ReviewRow[];
  /** Other changes of applications, keys and the tenant. */
  readonly changes: readonly ReviewRow[];
  /** Actors and operations not seen in the 30 days before; null if the past is too short or has too many values to compare. */
  readonly new_actors: readonly ReviewRow[] | null;
  readonly new_operations: readonly ReviewRow[] | null;
  /** The number of entries in each hour of the day, UTC. */
  readonly hours: readonly number[];
  readonly median: number;
  /** Hours with more than four times the median. */
  readonly busy_hours: readonly { readonly hour: string; readonly count: number }[];
}

export const PAST_DAYS = 30;
/** The days before that must be covered, so that anything can be called new. */
export const MIN_PAST_DAYS = 7;
const FAR_MORE = 4;
/** Reviews one day (UTC) of an archive in constant memory. Reads only documented fields, never messages. */
export class DayReview {
  readonly #day: TimeRange;
  readonly #coverage: Coverage;
  readonly #covered: readonly TimeRange[];
  readonly #hours = Array.from({ length: 24 }, () => 0);
  #timeless = 0;
  readonly #changes = new ChangeCounts();
  readonly #actors = new SeenValues('actor');
  readonly #operations = new SeenValues('operation');

  /** `from` is the beginning of the day, and `coverage` is the archive's. */
  constructor(from: number, coverage: Coverage) {
    this.#day = { from, to: from + DAY_MS };
    this.#coverage = coverage;
    this.#covered = coverage.covered();
  }

  /** Adds an entry, or a bucket of entries that are of one hour and equal to `log` except for their times. */
  add(log: Log, bucket = bucketOf(parseTime(log.created_at))): void {
    const { first: at, count } = bucket;
    const { from, to } = this.#day;
    if (at >= to || at < from - PAST_DAYS * DAY_MS) return;
    const isToday = at >= from;
    this.#actors.add(log, bucket, isToday);
    this.#operations.add(log, bucket, isToday);
    if (!isToday) return;
    const hour = Math.floor((at - from) / HOUR_MS);
    this.#hours[hour] = (this.#hours[hour] ?? 0) + count;
    this.#changes.add(log, bucket);
  }

  /** Adds an entry without a readable time, which was archived when the day or, unless `isToday`, the time before was read. */
  addTimeless(log: Log, isToday: boolean): void {
    const bucket = bucketOf(undefined);
    this.#actors.add(log, bucket, isToday);
    this.#operations.add(log, bucket, isToday);
    if (!isToday) return;
    this.#timeless += 1;
    this.#changes.add(log, bucket);
  }

  findings(): DayFindings {
    const { from } = this.#day;
    const hours = this.#hours;
    const median = medianOf(hours.filter((count, hour) => count > 0 || this.#covers(from + hour * HOUR_MS)));
    const past = pastOf(this.#covered, from);
    const busy = hours.flatMap((count, hour) =>
      count > FAR_MORE * Math.max(1, median) ? [{ hour: isoTime(from + hour * HOUR_MS), count }] : [],
    );
    return {
      entries: hours.reduce((sum, count) => sum + count, 0),
      timeless: this.#timeless,
      missing: this.#coverage.missing(this.#day).map(isoMissing),
      past_days: past.days,
      ...this.#changes.rows(),
      new_actors: past.isLong ? this.#actors.news() : null,
      new_operations: past.isLong ? this.#operations.news() : null,
      hours,
      median,
      busy_hours: busy,
    };
  }

  #covers(hour: number): boolean {
    return coveredMs(this.#covered, { from: hour, to: hour + HOUR_MS }) === HOUR_MS;
  }
}

/** Returns how many days of the time before are covered, and whether these are enough to call anything new. */
export function pastOf(
  covered: readonly TimeRange[],
  from: number,
): { readonly days: number; readonly isLong: boolean } {
  const pastMs = coveredMs(covered, { from: from - PAST_DAYS * DAY_MS, to: from });
  return { days: Math.round((pastMs / DAY_MS) * 10) / 10, isLong: pastMs >= MIN_PAST_DAYS * DAY_MS };
}

/** Whether the archive has nothing of a day that lacks these ranges. */
export function isDayMissing(missing: readonly Pick<MissingRange, 'from' | 'to'>[]): boolean {
  return missing.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0) >= DAY_MS;
}

/**
 * Returns the first range that should be archived but is not, so that the review is incomplete. Hours before the archive
 * begins and hours in the future do not count, unless nothing of the day is archived.
 */
export function failedRange(missing: readonly MissingRange[], from: number, now: number): MissingRange | undefined {
  if (isDayMissing(missing)) return missing[0];
  const isOver = from + DAY_MS <= now;
  return missing.find(({ reason }) => reason === 'gap' || (reason === 'not archived yet' && isOver));
}

function medianOf(counts: readonly number[]): number {
  const sorted = counts.toSorted((one, other) => one - other);
  const low = sorted[(sorted.length - 1) >> 1] ?? 0;
  const high = sorted[sorted.length >> 1] ?? 0;
  return (low + high) / 2;
}
