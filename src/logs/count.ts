// Counts log entries for `svc logs stats`.

import { parseTime } from '../cli/output/time.ts';
import { HOUR_MS } from '../schema/durations.ts';
import type { Log } from '../schema/log.ts';

/** The dimensions of counts. `all` is one row for all entries. */
export type StatsBy = 'all' | 'hour' | 'entity_type' | 'operation' | 'actor_type' | 'actor';

/** A row of `svc logs stats`. All rows have the same members, so that they fit into a table. */
export interface StatsRow {
  readonly by: StatsBy;
  /**
   * The counted value: the beginning of an hour, an entity type, an actor's id and so on. Null for entries without the
   * member, and in the row for all. `(others)` counts all values after the first thousands.
   */
  readonly value: string | null;
  readonly actor_type: string | null;
  readonly count: number;
  /** The share of all entries, from 0 to 1. */
  readonly share: number;
  /** The times of the row's earliest and latest entry, RFC 3339. */
  readonly first_at: string | null;
  readonly last_at: string | null;
}

/** The most actors that are counted one by one. */
export const MAX_ACTORS = 10_000;
const MAX_NAMES = 1_000;
/** A little over a year. A longer interval has rows only for hours with entries. */
const MAX_HOURS = 10_000;

const NAMED = ['entity_type', 'operation', 'actor_type'] as const;

/** Counts entries by hour, entity type, operation and actor, in constant memory. */
export class LogCounts {
  readonly #all = emptyBucket();
  readonly #hours = new ValueTally<number | null, Bucket>(MAX_HOURS, emptyBucket);
  readonly #names = new Map(
    NAMED.map((by) => [by, new ValueTally<string | null, Bucket>(MAX_NAMES, emptyBucket)] as const),
  );
  readonly #actors = new ValueTally<string | null, ActorBucket>(MAX_ACTORS, emptyActor);

  /** Adds an entry, or a bucket of entries that are of one hour and equal to `log` except for their times. */
  add(log: Log, bucket = bucketOf(parseTime(log.created_at))): void {
    mergeInto(this.#all, bucket);
    this.#hours.add(bucket.first === Infinity ? null : hourOf(bucket.first), bucket);
    for (const [by, tally] of this.#names) tally.add(log[by] ?? null, bucket);
    noteType(this.#actors.add(log.actor_id ?? null, bucket), log, bucket.first);
  }

  get entries(): number {
    return this.#all.count;
  }

  get hasOtherActors(): boolean {
    return this.#actors.isFull;
  }

  /** Returns all rows: all entries, each hour of the interval, then the values, the most frequent first. */
  rows(interval: Interval): StatsRow[] {
    const named = [...this.#names].flatMap(([by, tally]) =>
      byCount(tally).map(([value, bucket]) => this.#row(by, value, bucket)),
    );
    const actors = byCount(this.#actors).map(([value, bucket]) =>
      this.#row('actor', value, bucket, value === null || value === OTHERS ? null : bucket.type),
    );
    return [this.#row('all', null, this.#all), ...this.#hourRows(interval), ...named, ...actors];
  }

  #hourRows({ since, until }: Interval): StatsRow[] {
    const { buckets } = this.#hours;
    const hours = new Set([...buckets.keys()].filter((hour) => typeof hour === 'number'));
    if ((until - since) / HOUR_MS <= MAX_HOURS)
      for (let hour = hourOf(since); hour < until; hour += HOUR_MS) hours.add(hour);
    const rows = [...hours]
      .toSorted((one, other) => one - other)
      .map((hour) => this.#row('hour', iso(hour), buckets.get(hour) ?? emptyBucket()));
    for (const rest of [null, OTHERS] as const) {
      const bucket = buckets.get(rest);
      if (bucket) rows.push(this.#row('hour', rest, bucket));
    }
    return rows;
  }

  #row(by: StatsBy, value: string | null, { count, first, last }: Bucket, actorType: string | null = null): StatsRow {
    return {
      by,
      value,
      actor_type: actorType,
      count,
      share: count === 0 ? 0 : count / this.#all.count,
      first_at: first === Infinity ? null : iso(first),
      last_at: last === -Infinity ? null : iso(last),
    };
  }
}

function byCount<B extends Bucket>({ buckets }: ValueTally<string | null, B>): [string | null, B][] {
  return [...buckets].toSorted(
    ([a, one], [b, other]) =>
      Number(a === OTHERS) - Number(b === OTHERS) ||
      other.count - one.count ||
      Number(b === null) - Number(a === null) ||
      ((a ?? '') < (b ?? '') ? -1 : 1),
  );
}

function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

/** The number of entries with one value, and the times of the first and the last (epoch milliseconds). */
export interface Bucket {
  count: number;
  first: number;
  last: number;
}

export const OTHERS = '(others)';

export function emptyBucket(): Bucket {
  return { count: 0, first: Infinity, last: -Infinity };
}

/** Returns a bucket with one entry. */
export function bucketOf(at: number | undefined): Bucket {
  return { count: 1, first: at ?? Infinity, last: at ?? -Infinity };
}

function mergeInto(bucket: Bucket, { count, first, last }: Bucket): void {
  bucket.count += count;
  if (first < bucket.first) bucket.first = first;
  if (last > bucket.last) bucket.last = last;
}

/** The entries of one actor. */
export interface ActorBucket extends Bucket {
  /** The actor's type in its earliest entry with a type, so that the order of additions does not matter. */
  type: string | null;
  /** The time of that entry. */
  typeAt: number;
}

export function emptyActor(): ActorBucket {
  return { ...emptyBucket(), type: null, typeAt: Infinity };
}

/** Notes the type that an entry, whose time is `at`, gives an actor. */
export function noteType(actor: ActorBucket, { actor_type: type }: Log, at: number): void {
  if (typeof type !== 'string') return;
  const isFirst = actor.type === null || at < actor.typeAt || (at === actor.typeAt && type < actor.type);
  if (isFirst) Object.assign(actor, { type, typeAt: at });
}

/** Counts entries by one of their members. Only the first `most` values are counted separately, so that memory is bounded. */
export class ValueTally<K, B extends Bucket> {
  readonly buckets = new Map<K | typeof OTHERS, B>();
  readonly #most: number;
  readonly #empty: () => B;

  /** `empty` makes the bucket of a value without entries. */
  constructor(most: number, empty: () => B) {
    this.#most = most;
    this.#empty = empty;
  }

  /** Adds entries with a value. Returns the bucket that they were counted in. */
  add(value: K, added: Bucket): B {
    const key = this.buckets.has(value) || this.buckets.size < this.#most ? value : OTHERS;
    const bucket = this.buckets.get(key) ?? this.#empty();
    this.buckets.set(key, bucket);
    mergeInto(bucket, added);
    return bucket;
  }

  get isFull(): boolean {
    return this.buckets.has(OTHERS);
  }
}

export type Interval = Readonly<Record<'since' | 'until', number>>;

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}
