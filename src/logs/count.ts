import { parseTime } from '../cli/output/time.ts';
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

const MAX_ACTORS = 10_000;
const MAX_NAMES = 1_000;
/** A little over a year. A longer interval has rows only for hours with entries. */
const MAX_HOURS = 10_000;

const NAMED = ['entity_type', 'operation', 'actor_type'] as const;

/** Counts entries by hour, entity type, operation and actor, in constant memory. */
export class LogCounts {
  readonly #all = emptyBucket();
  readonly #hours = new ValueTally<number | null>(MAX_HOURS);
  readonly #names = new Map(NAMED.map((by) => [by, new ValueTally<string | null>(MAX_NAMES)] as const));
  readonly #actors = new ValueTally<string | null>(MAX_ACTORS);
  /** The type of each actor in its earliest entry with a type, so that the order of additions does not matter. */
  readonly #actorTypes = new Map<string, { readonly type: string; readonly at: number }>();

  /** Adds an entry, or a bucket of entries that are of one hour and equal to `log` except for their times. */
  add(log: Log, bucket = bucketOf(parseTime(log.created_at))): void {
    mergeInto(this.#all, bucket);
    this.#hours.add(bucket.first === Infinity ? null : hourOf(bucket.first), bucket);
    for (const [by, tally] of this.#names) tally.add(log[by] ?? null, bucket);
    const actor = log.actor_id ?? null;
    this.#actors.add(actor, bucket);
    if (actor !== null && typeof log.actor_type === 'string' && this.#actors.buckets.has(actor))
      this.#noteType(actor, log.actor_type, bucket.first);
  }

  #noteType(actor: string, type: string, at: number): void {
    const known = this.#actorTypes.get(actor);
    if (known === undefined || at < known.at || (at === known.at && type < known.type))
      this.#actorTypes.set(actor, { type, at });
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
      this.#row('actor', value, bucket, {
        actor_type: value === null ? null : (this.#actorTypes.get(value)?.type ?? null),
      }),
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

  #row(
    by: StatsBy,
    value: string | null,
    { count, first, last }: Bucket,
    { actor_type = null }: { actor_type?: string | null } = {},
  ): StatsRow {
    return {
      by,
      value,
      actor_type,
      count,
      share: count === 0 ? 0 : count / this.#all.count,
      first_at: first === Infinity ? null : iso(first),
      last_at: last === -Infinity ? null : iso(last),
    };
  }
}

function byCount({ buckets }: ValueTally<string | null>): [string | null, Bucket][] {
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

export function mergeInto(bucket: Bucket, { count, first, last }: Bucket): void {
  bucket.count += count;
  if (first < bucket.first) bucket.first = first;
  if (last > bucket.last) bucket.last = last;
}

/** Counts entries by one of their members. Only the first `most` values are counted separately, so that memory is bounded. */
export class ValueTally<K> {
  readonly buckets = new Map<K | typeof OTHERS, Bucket>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(value: K, added: Bucket): Bucket {
    const key = this.buckets.has(value) || this.buckets.size < this.#most ? value : OTHERS;
    const bucket = this.buckets.get(key) ?? emptyBucket();
    this.buckets.set(key, bucket);
    mergeInto(bucket, added);
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
