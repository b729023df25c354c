import { type Entry, NO_TIME } from './entry.ts';
import type { Window } from './source.ts';

/** Windows begin and end with whole seconds: a service may not look at fractions. */
export const SECOND_MS = 1000;

/** The whole second that a time lies in, in milliseconds. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND_MS) * SECOND_MS;
}

/** Whether an entry belongs to a window. One whose time cannot be read belongs to all. */
export function isIn({ from, to }: Window, { at }: Entry): boolean {
  return at === NO_TIME || (at >= from && at < to);
}

/** The seconds that entries were created in, the fullest first. */
export function secondsOf(entries: readonly Entry[]): Window[] {
  const counts = new Map<number, number>();
  for (const { at } of entries) {
    if (at !== NO_TIME) counts.set(wholeSecond(at), (counts.get(wholeSecond(at)) ?? 0) + 1);
  }
  return Array.from(counts)
    .toSorted(([, one], [, other]) => other - one)
    .map(([from]) => ({ from, to: from + SECOND_MS }));
}

/** The entries, with those of a window as a better read found them. */
export function replaced(
  entries: readonly Entry[],
  window: Window,
  better: readonly Entry[],
): readonly Entry[] {
  return [
    ...entries.filter((entry) => entry.at === NO_TIME || !isIn(window, entry)),
    ...better.filter(({ at }) => at !== NO_TIME),
  ];
}
