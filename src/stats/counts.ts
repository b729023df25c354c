import { parseTime } from '../render/time.ts';
import type { Log } from '../schema/log.ts';
import type { StatsBy, StatsRow } from '../views/log-stats.ts';
import { HOUR_MS, hourOf, type Interval } from './hours.ts';
import { type Bucket, emptyBucket, fill, OTHERS, ValueTally } from './tally.ts';

/** What there is to be said of an actor or an hour, beside its count. */
export interface Notes {
  noteActor(id: string): string | null;
  /** `hour`: its beginning in epoch milliseconds. */
  noteHour(hour: number, count: number): string | null;
}

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
  rows(interval: Interval, notes: Notes = NO_NOTES): StatsRow[] {
    const named = (['entity_type', 'operation', 'actor_type'] as const).flatMap((by) =>
      byCount(this.#names[by]).map(([value, bucket]) => this.#row(by, value, bucket)),
    );
    const actors = byCount(this.#actors).map(([value, bucket]) =>
      this.#row('actor', value, bucket, {
        actor_type: value === null ? null : (this.#actorTypes.get(value) ?? null),
        note: value === null || value === OTHERS ? null : notes.noteActor(value),
      }),
    );
    return [this.#row('all', null, this.#all), ...this.#hourRows(interval, notes), ...named, ...actors];
  }

  #hourRows({ since, until }: Interval, notes: Notes): StatsRow[] {
    const { buckets } = this.#hours;
    const hours = new Set([...buckets.keys()].filter((hour) => typeof hour === 'number'));
    if ((until - since) / HOUR_MS <= MOST_HOURS)
      for (let hour = hourOf(since); hour < until; hour += HOUR_MS) hours.add(hour);
    const rows = [...hours]
      .toSorted((one, other) => one - other)
      .map((hour) => {
        const bucket = buckets.get(hour) ?? emptyBucket();
        return this.#row('hour', iso(hour), bucket, { note: notes.noteHour(hour, bucket.count) });
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
    { actor_type = null, note = null }: Partial<Pick<StatsRow, 'actor_type' | 'note'>> = {},
  ): StatsRow {
    return {
      by,
      value,
      actor_type,
      count,
      share: count === 0 ? 0 : count / this.#all.count,
      first_at: first === Infinity ? null : iso(first),
      last_at: last === -Infinity ? null : iso(last),
      note,
    };
  }
}

const NO_NOTES: Notes = { noteActor: () => null, noteHour: () => null };

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
