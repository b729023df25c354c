import { isoTime, parseTime } from '../../cli/output/time.ts';
import { DAY_MS, HOUR_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { type Coverage, coveredMs, type MissingRange as Missing } from '../archive/records/coverage.ts';
import { bucketOf } from '../count.ts';
import type { TimeRange } from '../entry.ts';
import { ChangeCounts } from './change-counts.ts';
import type { ReviewRow } from './review-row.ts';
import { SeenValues } from './seen-values.ts';

/** A range of the day that is not covered, and why. */
export interface MissingRange {
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
export const LEAST_PAST_DAYS = 7;
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

  /** `from` is the beginning of the day, and `coverage` that of the archive. */
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
      missing: this.#missing(),
      past_days: past.days,
      ...this.#changes.rows(),
      new_actors: past.isLong ? this.#actors.news() : null,
      new_operations: past.isLong ? this.#operations.news() : null,
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
  return { days: Math.round((pastMs / DAY_MS) * 10) / 10, isLong: pastMs >= LEAST_PAST_DAYS * DAY_MS };
}

/**
 * Returns the first range that should be archived but is not, so that the review is incomplete. Hours before the archive
 * begins and hours in the future do not count, unless nothing of the day is archived.
 */
export function failedRange(missing: readonly MissingRange[], from: number, now: number): MissingRange | undefined {
  const missingMs = missing.reduce((sum, range) => sum + Date.parse(range.to) - Date.parse(range.from), 0);
  if (missingMs >= DAY_MS) return missing[0];
  const isOver = from + DAY_MS <= now;
  return missing.find(({ reason }) => reason === 'gap' || (reason === 'not archived yet' && isOver));
}

function medianOf(counts: readonly number[]): number {
  const sorted = counts.toSorted((one, other) => one - other);
  const low = sorted[(sorted.length - 1) >> 1] ?? 0;
  const high = sorted[sorted.length >> 1] ?? 0;
  return (low + high) / 2;
}
