import { isoTime, parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { type Coverage, type MissingRange as Missing, without } from '../archive/coverage.ts';
import { type Bucket, bucketOf, HOUR_MS, OTHERS, ValueTally } from '../count.ts';
import type { TimeRange } from '../entry.ts';

/** Entries that are alike but for their entity and message. What an entry lacks is null; times are RFC 3339. */
export interface ReviewRow extends Readonly<
  Record<'entity_type' | 'operation' | 'actor_type' | 'actor_id', string | null>
> {
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
}

/** A range of the day that is not covered, and why. */
export interface MissingRange {
  readonly from: string;
  readonly to: string;
  readonly reason: Missing['reason'];
}

/** What one day of an archive holds that somebody should see. */
export interface DayFindings {
  readonly entries: number;
  readonly missing: readonly MissingRange[];
  /** How many of the days before are covered; under seven, nothing is called new. */
  readonly past_days: number;
  readonly deletions: readonly ReviewRow[];
  /** Other changes of applications, keys and the tenant. */
  readonly changes: readonly ReviewRow[];
  /** Not seen in the 30 days before; null where the past is too short, or holds too much to compare. */
  readonly new_actors: readonly ReviewRow[] | null;
  readonly new_operations: readonly ReviewRow[] | null;
  /** Entries by hour of the day, UTC. */
  readonly hours: readonly number[];
  readonly median: number;
  /** Hours with more than four times the median. */
  readonly busy_hours: readonly { readonly hour: string; readonly count: number }[];
}

const DAY_MS = 24 * HOUR_MS;
export const PAST_DAYS = 30;
export const LEAST_PAST_DAYS = 7;
const FAR_MORE = 4;
const MAX_ROWS = 1_000;
const MAX_SEEN = 100_000;
/** Changes of these are of interest, whoever makes them. */
const GUARDED: ReadonlySet<string> = new Set(['application', 'applications', 'key', 'keys', 'tenant', 'tenants']);

/** Reviews one day (UTC) of an archive. Looks at documented fields alone, never at messages; memory stays flat. */
export class DayReview {
  readonly #day: TimeRange;
  readonly #coverage: Coverage;
  readonly #covered: readonly TimeRange[];
  readonly #hours = Array.from({ length: 24 }, () => 0);
  readonly #deletions = new ValueTally<string>(MAX_ROWS);
  readonly #changes = new ValueTally<string>(MAX_ROWS);
  readonly #actors = new Seen('actor');
  readonly #operations = new Seen('operation');

  /** `from`: the beginning of the day; `coverage`: that of the archive. */
  constructor(from: number, coverage: Coverage) {
    this.#day = { from, to: from + DAY_MS };
    this.#coverage = coverage;
    this.#covered = coverage.covered();
  }

  /** Adds an entry, or all of a bucket, which are of one hour and like it but for their times. */
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
    if (log.operation === 'delete') this.#deletions.add(keyOf(log), bucket);
    else if (log.operation !== 'read' && isGuarded(log)) this.#changes.add(keyOf(log), bucket);
  }

  findings(): DayFindings {
    const { from } = this.#day;
    const hours = this.#hours;
    const median = medianOf(hours.filter((count, hour) => count > 0 || this.#covers(from + hour * HOUR_MS)));
    const pastMs = this.#coveredMs({ from: from - PAST_DAYS * DAY_MS, to: from });
    const isLong = pastMs >= LEAST_PAST_DAYS * DAY_MS;
    const busy = hours.flatMap((count, hour) =>
      count > FAR_MORE * Math.max(1, median) ? [{ hour: isoTime(from + hour * HOUR_MS), count }] : [],
    );
    return {
      entries: hours.reduce((sum, count) => sum + count, 0),
      missing: this.#missing(),
      past_days: Math.round((pastMs / DAY_MS) * 10) / 10,
      deletions: rowsOf(this.#deletions),
      changes: rowsOf(this.#changes),
      new_actors: isLong ? this.#actors.news() : null,
      new_operations: isLong ? this.#operations.news() : null,
      hours,
      median,
      busy_hours: busy,
    };
  }

  #missing(): MissingRange[] {
    return this.#coverage
      .missing(this.#day)
      .map(({ from, to, reason }) => ({ from: isoTime(from), to: isoTime(to), reason }));
  }

  #coveredMs(range: TimeRange): number {
    return without(range, this.#covered).reduce((left, { from, to }) => left - (to - from), range.to - range.from);
  }

  #covers(hour: number): boolean {
    return this.#coveredMs({ from: hour, to: hour + HOUR_MS }) === HOUR_MS;
  }
}

/**
 * Why a day cannot be reviewed as a whole although its entries should all be archived: the first such range. Hours before
 * the archive begins and hours that are still to come are no reason, unless nothing of the day is archived.
 */
export function failedRange(missing: readonly MissingRange[], from: number, now: number): MissingRange | undefined {
  const missingMs = missing.reduce((sum, range) => sum + Date.parse(range.to) - Date.parse(range.from), 0);
  if (missingMs >= DAY_MS) return missing[0];
  const isOver = from + DAY_MS <= now;
  return missing.find(({ reason }) => reason === 'gap' || (reason === 'not archived yet' && isOver));
}

/** The values of a day, and those of the days before. */
class Seen {
  readonly #by: 'actor' | 'operation';
  readonly #before = new Set<string>();
  readonly #today = new ValueTally<string>(MAX_SEEN);

  constructor(by: 'actor' | 'operation') {
    this.#by = by;
  }

  add({ actor_id, actor_type, entity_type, operation }: Log, bucket: Bucket, isToday: boolean): void {
    if (this.#by === 'actor' && typeof actor_id !== 'string') return;
    const key = keyOf(this.#by === 'actor' ? { actor_id, actor_type } : { entity_type, operation });
    if (isToday) this.#today.add(key, bucket);
    else if (this.#before.size <= MAX_SEEN) this.#before.add(key);
  }

  news(): ReviewRow[] | null {
    if (this.#before.size > MAX_SEEN || this.#today.isFull) return null;
    return [...this.#today.buckets]
      .filter(([key]) => !this.#before.has(key))
      .toSorted(byFirst)
      .map(rowOf);
  }
}

type Kind = Partial<Pick<Log, 'entity_type' | 'operation' | 'actor_type' | 'actor_id'>>;

function keyOf({ entity_type, operation, actor_type, actor_id }: Kind): string {
  return JSON.stringify([entity_type ?? null, operation ?? null, actor_type ?? null, actor_id ?? null]);
}

/** The most frequent first; those met after the first thousand count as others. */
function rowsOf({ buckets }: ValueTally<string>): ReviewRow[] {
  return [...buckets].toSorted((one, other) => other[1].count - one[1].count || byFirst(one, other)).map(rowOf);
}

// An index gives groups in another order than the entries.
function byFirst([a, one]: [string, Bucket], [b, other]: [string, Bucket]): number {
  return one.first - other.first || (a < b ? -1 : 1);
}

function rowOf([key, { count, first, last }]: [string, Bucket]): ReviewRow {
  const names = key === OTHERS ? [OTHERS, null, null, null] : (JSON.parse(key) as (string | null)[]);
  const [entity_type = null, operation = null, actor_type = null, actor_id = null] = names;
  return { entity_type, operation, actor_type, actor_id, count, first_at: isoTime(first), last_at: isoTime(last) };
}

// A type such as `application_key` is of two of them.
function isGuarded({ entity_type: type }: Log): boolean {
  return (type ?? '')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => GUARDED.has(word));
}

function medianOf(counts: readonly number[]): number {
  const sorted = counts.toSorted((one, other) => one - other);
  const low = sorted[(sorted.length - 1) >> 1] ?? 0;
  const high = sorted[sorted.length >> 1] ?? 0;
  return (low + high) / 2;
}
