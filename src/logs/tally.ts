import type { Entry } from './entry.ts';

/** What is kept of equal entries: when they were and how many. */
interface Counted {
  readonly at: number;
  readonly count: number;
}

/** One line of a tally as a checkpoint keeps it. */
export type TallyLine = readonly [key: string, at: number, count: number];

/** How many of each entry there are: a multiset, because two entries may be equal in every field and still be two. */
export class Tally {
  /** By the second that they were created in, as they are forgotten by the second. */
  readonly #seconds = new Map<number, Map<string, Counted>>();
  #total = 0;

  constructor(lines: Iterable<TallyLine> = []) {
    for (const [key, at, count] of lines) this.#put(key, { at, count });
  }

  /** How many entries are counted, equal ones each. */
  get total(): number {
    return this.#total;
  }

  add(entry: Entry): void {
    this.#put(entry.key, { at: entry.at, count: this.count(entry) + 1 });
  }

  count({ key, at }: Pick<Entry, 'key' | 'at'>): number {
    return this.#seconds.get(secondOf(at))?.get(key)?.count ?? 0;
  }

  /** Those of `entries` that go beyond what is counted here, in their order. */
  surplus(entries: readonly Entry[]): Entry[] {
    const met = new Map<string, number>();
    return entries.filter((entry) => {
      const nth = (met.get(entry.key) ?? 0) + 1;
      met.set(entry.key, nth);
      return nth > this.count(entry);
    });
  }

  /** Forgets what is older than this whole second. */
  forgetBefore(time: number): void {
    for (const [second, counts] of this.#seconds) {
      if (second >= time) continue;
      for (const { count } of counts.values()) this.#total -= count;
      this.#seconds.delete(second);
    }
  }

  /** All that is counted, for a checkpoint. */
  lines(): TallyLine[] {
    return Array.from(this.#seconds.values()).flatMap((counts) =>
      Array.from(counts, ([key, { at, count }]): TallyLine => [key, at, count]),
    );
  }

  #put(key: string, counted: Counted): void {
    const second = secondOf(counted.at);
    const counts = this.#seconds.get(second) ?? new Map<string, Counted>();
    this.#seconds.set(second, counts);
    this.#total += counted.count - (counts.get(key)?.count ?? 0);
    counts.set(key, counted);
  }
}

function secondOf(at: number): number {
  return at - (at % 1000);
}

/** Whether two reads found the same entries, each as often. */
export function areSame(one: readonly Entry[], other: readonly Entry[]): boolean {
  if (one.length !== other.length) return false;
  const tally = new Tally();
  for (const entry of one) tally.add(entry);
  return tally.surplus(other).length === 0;
}
