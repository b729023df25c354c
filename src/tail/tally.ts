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
  readonly #counts = new Map<string, Counted>();

  constructor(lines: Iterable<TallyLine> = []) {
    for (const [key, at, count] of lines) this.#counts.set(key, { at, count });
  }

  /** How many different entries are counted. */
  get size(): number {
    return this.#counts.size;
  }

  add({ key, at }: Entry): void {
    this.#counts.set(key, { at, count: this.count(key) + 1 });
  }

  count(key: string): number {
    return this.#counts.get(key)?.count ?? 0;
  }

  /** Those of `entries` that go beyond what is counted here, in their order. */
  surplus(entries: readonly Entry[]): Entry[] {
    const met = new Map<string, number>();
    return entries.filter(({ key }) => {
      const nth = (met.get(key) ?? 0) + 1;
      met.set(key, nth);
      return nth > this.count(key);
    });
  }

  /** Forgets what is older than this time. */
  forgetBefore(time: number): void {
    for (const [key, { at }] of this.#counts) if (at < time) this.#counts.delete(key);
  }

  /** All that is counted, for a checkpoint. */
  lines(): TallyLine[] {
    return Array.from(this.#counts, ([key, { at, count }]) => [key, at, count]);
  }
}

/** Whether two reads found the same entries, each as often. */
export function areSame(one: readonly Entry[], other: readonly Entry[]): boolean {
  if (one.length !== other.length) return false;
  const tally = new Tally();
  for (const entry of one) tally.add(entry);
  return tally.surplus(other).length === 0;
}
