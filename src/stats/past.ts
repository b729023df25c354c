import type { Log } from '../schema/log.ts';
import { HOUR_MS, hourOf, type Interval } from './hours.ts';
import { ValueTally } from './tally.ts';

const DAYS = 28;
const DAY_MS = 24 * HOUR_MS;
const LEAST_DAYS = 7;
/** An hour is unusual from twice as many on (or with less than half as many), and by no less than this. */
const LEAST_DIFFERENCE = 20;
const MOST_ACTORS = 100_000;

/** Stretches of time of which all entries are there, in order. Epoch milliseconds. */
type Covered = readonly { readonly from: number; readonly to: number }[];

/** What an archive holds before an interval, as far as the interval is held against it. */
export class Past {
  readonly #since: number;
  readonly #covered: Covered;
  readonly #actors = new ValueTally<string>(MOST_ACTORS);
  readonly #hours = new Map<number, number>();

  constructor({ since }: Pick<Interval, 'since'>, covered: Covered) {
    this.#since = since;
    this.#covered = covered;
  }

  /** Whether the archive goes far enough back before the interval for anything to be said. */
  get isLong(): boolean {
    return this.#since - (this.#covered[0]?.from ?? Infinity) >= LEAST_DAYS * DAY_MS;
  }

  /** Takes an entry of this time. One that is not counted tells of its actor only. */
  add(log: Log, at: number, isCounted: boolean): void {
    if (at < this.#since && typeof log.actor_id === 'string') this.#actors.add(log.actor_id, at);
    if (!isCounted || at < this.#since - DAYS * DAY_MS - HOUR_MS) return;
    this.#hours.set(hourOf(at), (this.#hours.get(hourOf(at)) ?? 0) + 1);
  }

  /** What is to be said of an actor: that it was not there before. Nothing where the past is too short or too full. */
  noteActor(id: string): string | null {
    if (!this.isLong || this.#actors.isFull || this.#actors.buckets.has(id)) return null;
    return 'first seen in this archive';
  }

  /** What is to be said of an hour with so many entries, held against the same hour of the days before. */
  noteHour(hour: number, count: number): string | null {
    const before: number[] = [];
    for (let day = 1; day <= DAYS; day += 1) {
      const same = hour - day * DAY_MS;
      if (this.#covers(same)) before.push(this.#hours.get(same) ?? 0);
    }
    if (before.length < LEAST_DAYS) return null;
    const [most, least] = [Math.max(...before), Math.min(...before)];
    const days =
      before.length === DAYS ? `the ${DAYS} days before` : `${before.length} of the ${DAYS} days before`;
    const words = `${count} ${count === 1 ? 'entry' : 'entries'}; the same hour had at`;
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
