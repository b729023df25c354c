import { countText, parseTime } from '../output/time.ts';
import type { Log } from '../schema/log.ts';
import type { TimeRange } from './entry.ts';

/** What entries are counted by; `all` is one row for all of them. */
export type StatsBy = 'all' | 'hour' | 'entity_type' | 'operation' | 'actor_type' | 'actor';

/** One count of `svc logs stats`: every row has the same members, so that it fits any table. */
export interface StatsRow {
  readonly by: StatsBy;
  /**
   * The beginning of an hour, an entity type and so on, or an actor's id. Null where entries do not have it, and in the
   * row for all. `(others)` counts all values after the first thousands.
   */
  readonly value: string | null;
  readonly actor_type: string | null;
  readonly count: number;
  /** Of all entries, from 0 to 1. */
  readonly share: number;
  /** The earliest and the latest entry of the row, RFC 3339. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** Marks an actor that is new to the archive, or an unusual hour; else null. */
  readonly note: string | null;
}

const MAX_ACTORS = 10_000;
const MAX_NAMES = 1_000;
/** Something over a year; an interval of more hours has rows for those with entries only. */
const MAX_HOURS = 10_000;

const NAMED = ['entity_type', 'operation', 'actor_type'] as const;

/** Counts entries by hour, entity type, operation and actor, in flat memory. */
export class LogCounts {
  readonly #all = emptyBucket();
  readonly #hours = new ValueTally<number | null>(MAX_HOURS);
  readonly #names = new Map(NAMED.map((by) => [by, new ValueTally<string | null>(MAX_NAMES)] as const));
  readonly #actors = new ValueTally<string | null>(MAX_ACTORS);
  readonly #actorTypes = new Map<string, string>();

  add(log: Log): void {
    const at = parseTime(log.created_at);
    fill(this.#all, at);
    this.#hours.add(at === undefined ? null : hourOf(at), at);
    for (const [by, tally] of this.#names) tally.add(log[by] ?? null, at);
    const actor = log.actor_id ?? null;
    const { count } = this.#actors.add(actor, at);
    if (count === 1 && actor !== null && typeof log.actor_type === 'string')
      this.#actorTypes.set(actor, log.actor_type);
  }

  get entries(): number {
    return this.#all.count;
  }

  get hasOtherActors(): boolean {
    return this.#actors.isFull;
  }

  /** All counts: all entries, each hour of the interval, then by value, the most frequent first. */
  rows(interval: Interval, past?: StatsBackfill): StatsRow[] {
    const named = [...this.#names].flatMap(([by, tally]) =>
      byCount(tally).map(([value, bucket]) => this.#row(by, value, bucket)),
    );
    const actors = byCount(this.#actors).map(([value, bucket]) =>
      this.#row('actor', value, bucket, {
        actor_type: value === null ? null : (this.#actorTypes.get(value) ?? null),
        note: value === null || value === OTHERS ? null : past?.noteActor(value),
      }),
    );
    return [this.#row('all', null, this.#all), ...this.#hourRows(interval, past), ...named, ...actors];
  }

  #hourRows({ since, until }: Interval, past: StatsBackfill | undefined): StatsRow[] {
    const { buckets } = this.#hours;
    const hours = new Set([...buckets.keys()].filter((hour) => typeof hour === 'number'));
    if ((until - since) / HOUR_MS <= MAX_HOURS)
      for (let hour = hourOf(since); hour < until; hour += HOUR_MS) hours.add(hour);
    const rows = [...hours]
      .toSorted((one, other) => one - other)
      .map((hour) => {
        const bucket = buckets.get(hour) ?? emptyBucket();
        return this.#row('hour', iso(hour), bucket, { note: past?.noteHour(hour, bucket.count) });
      });
    for (const rest of [null, OTHERS] as const) {
      const bucket = buckets.get(rest);
      if (bucket) rows.push(this.#row('hour', rest, bucket));
    }
    return rows;
  }

  #row(
    by: StatsBy,
    value: string | null,
    { count, first, last }: Bucket,
    { actor_type = null, note }: { actor_type?: string | null; note?: string | null | undefined } = {},
  ): StatsRow {
    return {
      by,
      value,
      actor_type,
      count,
      share: count === 0 ? 0 : count / this.#all.count,
      first_at: first === Infinity ? null : iso(first),
      last_at: last === -Infinity ? null : iso(last),
      note: note ?? null,
    };
  }
}

function byCount({ buckets }: ValueTally<string | null>): [string | null, Bucket][] {
  return [...buckets].toSorted(
    ([a, one], [b, other]) =>
      Number(a === OTHERS) - Number(b === OTHERS) || other.count - one.count || ((a ?? '') < (b ?? '') ? -1 : 1),
  );
}

function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

/** How many entries have one value, and when the first and the last of them were (epoch milliseconds). */
export interface Bucket {
  count: number;
  first: number;
  last: number;
}

const OTHERS = '(others)';

function emptyBucket(): Bucket {
  return { count: 0, first: Infinity, last: -Infinity };
}

function fill(bucket: Bucket, at: number | undefined): void {
  bucket.count += 1;
  if (at === undefined) return;
  if (at < bucket.first) bucket.first = at;
  if (at > bucket.last) bucket.last = at;
}

/** Counts entries by one of their values. Only the first `most` values are counted separately: memory stays flat. */
class ValueTally<K> {
  readonly buckets = new Map<K | typeof OTHERS, Bucket>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(value: K, at: number | undefined): Bucket {
    const key = this.buckets.has(value) || this.buckets.size < this.#most ? value : OTHERS;
    const bucket = this.buckets.get(key) ?? emptyBucket();
    this.buckets.set(key, bucket);
    fill(bucket, at);
    return bucket;
  }

  get isFull(): boolean {
    return this.buckets.has(OTHERS);
  }
}

export type Interval = Readonly<Record<'since' | 'until', number>>;

export const HOUR_MS = 3_600_000;

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

const DAYS = 28;
const DAY_MS = 24 * HOUR_MS;
const LEAST_DAYS = 7;
/** An hour is unusual from twice as many on (or with less than half as many), and by no less than this. */
const LEAST_DIFFERENCE = 20;
const MAX_PAST_ACTORS = 100_000;

/** What an archive holds before an interval, for comparison. */
export class StatsBackfill {
  readonly #since: number;
  readonly #covered: readonly TimeRange[];
  readonly #actors = new ValueTally<string>(MAX_PAST_ACTORS);
  readonly #hours = new Map<number, number>();

  /** `covered`: the ranges whose entries are all there, in order. */
  constructor({ since }: Pick<Interval, 'since'>, covered: readonly TimeRange[]) {
    this.#since = since;
    this.#covered = covered;
  }

  /** Whether the archive goes back far enough for remarks. */
  get isLong(): boolean {
    return this.#since - (this.#covered[0]?.from ?? Infinity) >= LEAST_DAYS * DAY_MS;
  }

  /** Adds an entry of this time; of one that is not counted, only its actor. */
  add(log: Log, at: number, isCounted: boolean): void {
    if (at < this.#since && typeof log.actor_id === 'string') this.#actors.add(log.actor_id, at);
    if (!isCounted || at < this.#since - DAYS * DAY_MS - HOUR_MS) return;
    this.#hours.set(hourOf(at), (this.#hours.get(hourOf(at)) ?? 0) + 1);
  }

  noteActor(id: string): string | null {
    if (!this.isLong || this.#actors.isFull || this.#actors.buckets.has(id)) return null;
    return 'first seen in this archive';
  }

  /** Compares an hour's count with the same hour of the days before. */
  noteHour(hour: number, count: number): string | null {
    const before: number[] = [];
    for (let day = 1; day <= DAYS; day += 1) {
      const same = hour - day * DAY_MS;
      if (this.#covers(same)) before.push(this.#hours.get(same) ?? 0);
    }
    if (before.length < LEAST_DAYS) return null;
    const [most, least] = [Math.max(...before), Math.min(...before)];
    const days = before.length === DAYS ? `the ${DAYS} days before` : `${before.length} of the ${DAYS} days before`;
    const words = `${countText(count, 'entry')}; the same hour had at`;
    if (isFarMore(count, most)) return `${words} most ${most} in ${days}`;
    if (isFarMore(least, count) && hour >= this.#since && this.#covers(hour))
      return `${words} least ${least} in ${days}`;
    return null;
  }

  #covers(hour: number): boolean {
    return this.#covered.some(({ from, to }) => from <= hour && to >= hour + HOUR_MS);
  }
}

function isFarMore(one: number, other: number): boolean {
  return one > 2 * other && one - other >= LEAST_DIFFERENCE;
}
