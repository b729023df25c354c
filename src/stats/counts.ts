import { parseTime } from '../render/time.ts';
import type { Log } from '../schema/log.ts';
import type { StatsBy, StatsRow } from '../views/log-stats.ts';
import { type Bucket, emptyBucket, fill, OTHERS, ValueTally } from './tally.ts';

/** A half-open stretch of time, in epoch milliseconds. */
export interface Interval {
  readonly since: number;
  readonly until: number;
}

/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000;

const MOST_ACTORS = 10_000;
const MOST_NAMES = 1_000;
/** Something over a year; an interval of more hours has rows for those with entries only. */
const MOST_HOURS = 10_000;

type Named = 'entity_type' | 'operation' | 'actor_type';

/** Counts entries by hour, entity type, operation and actor, as they go by and in flat memory. */
export class LogCounts {
  readonly #all = emptyBucket();
  readonly #hours = new ValueTally<number | null>(MOST_HOURS);
  readonly #names: Readonly<Record<Named, ValueTally<string | null>>> = {
    entity_type: new ValueTally(MOST_NAMES),
    operation: new ValueTally(MOST_NAMES),
    actor_type: new ValueTally(MOST_NAMES),
  };
  readonly #actors = new ValueTally<string | null>(MOST_ACTORS);
  readonly #actorTypes = new Map<string, string>();

  add(log: Log): void {
    const at = parseTime(log.created_at);
    fill(this.#all, at);
    this.#hours.add(at === undefined ? null : hourOf(at), at);
    this.#names.entity_type.add(log.entity_type ?? null, at);
    this.#names.operation.add(log.operation ?? null, at);
    this.#names.actor_type.add(log.actor_type ?? null, at);
    const actor = log.actor_id ?? null;
    const { count } = this.#actors.add(actor, at);
    if (count === 1 && actor !== null && typeof log.actor_type === 'string')
      this.#actorTypes.set(actor, log.actor_type);
  }

  /** How many entries were counted. */
  get entries(): number {
    return this.#all.count;
  }

  /** Whether there were more different actors than are told apart. */
  get hasOtherActors(): boolean {
    return this.#actors.isFull;
  }

  /** All counts: all entries, each hour of the interval, then by value, the most frequent first. */
  rows(interval: Interval): StatsRow[] {
    const named = (['entity_type', 'operation', 'actor_type'] as const).flatMap((by) =>
      byCount(this.#names[by]).map(([value, bucket]) => this.#row(by, value, bucket)),
    );
    const actors = byCount(this.#actors).map(([value, bucket]) =>
      this.#row('actor', value, bucket, value === null ? null : (this.#actorTypes.get(value) ?? null)),
    );
    return [this.#row('all', null, this.#all), ...this.#hourRows(interval), ...named, ...actors];
  }

  #hourRows({ since, until }: Interval): StatsRow[] {
    const { buckets } = this.#hours;
    const hours = new Set([...buckets.keys()].filter((hour) => typeof hour === 'number'));
    if ((until - since) / HOUR_MS <= MOST_HOURS)
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
    actorType: string | null = null,
  ): StatsRow {
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

/** The beginning of the hour that a time lies in. Both in epoch milliseconds. */
function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

function byCount({ buckets }: ValueTally<string | null>): [string | null, Bucket][] {
  return [...buckets].toSorted(
    ([a, one], [b, other]) =>
      Number(a === OTHERS) - Number(b === OTHERS) ||
      other.count - one.count ||
      ((a ?? '') < (b ?? '') ? -1 : 1),
  );
}

function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}
