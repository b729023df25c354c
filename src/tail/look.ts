import type { Entry } from './entry.ts';
import { NO_TIME } from './entry.ts';
import { type Found, isIn, readFirmly, readOnce, SECOND_MS, wholeSecond } from './read-window.ts';
import type { Stretch } from './past.ts';
import type { LogSource, Window } from './source.ts';
import type { TailState } from './state.ts';

/** What a look found, and where the tail stands once all of it is passed on. */
export interface Look {
  readonly entries: readonly Entry[];
  readonly requests: number;
  /** Up to here the log has been read. */
  readonly readTo: number;
  /** Everything before this is done with. */
  readonly settleTo: number;
  readonly newest: number | undefined;
}

/**
 * Reads from where the log is not done with up to the present. What is seen for the first time and once is beyond
 * doubt. More of the same from several pages may be one entry at a seam, so those seconds are read again, firmly;
 * and so is what is then done with, as it will not be read again.
 */
export async function lookAtPresent(source: LogSource, state: TailState, overlapMs: number): Promise<Look> {
  const window = { from: state.settled, to: wholeSecond(source.now()) };
  if (window.to <= window.from) return nothingYet(state);
  const quick = await readOnce(source, window);
  const newest = newestOf(state, quick.entries, source.now());
  const settleTo = settledBy(newest, overlapMs);
  const readTo = Math.max(state.readTo, window.to);
  if (quick.pages === 1)
    return { entries: quick.entries, requests: 1, readTo, newest, settleTo: settleTo ?? state.settled };
  const isWorthIt = settleTo !== undefined && settleTo - state.settled >= overlapMs / 4;
  const done = isWorthIt ? { from: state.settled, to: settleTo } : undefined;
  const firm = await readAgain(source, quick, [done, doubtful(state, quick.entries)]);
  return { ...firm, readTo, newest, settleTo: done?.to ?? state.settled };
}

/** What reading a stretch of the past found; after it all but the overlap is done with. */
export function lookAtPast(source: LogSource, state: TailState, stretch: Stretch, overlapMs: number): Look {
  const { entries, pages, to } = stretch;
  const now = source.now();
  const newest = newestOf(state, entries, now);
  // Until an answer has told the service's time, this machine's clock may have run ahead.
  const readTo = Math.max(state.readTo, Math.min(to, wholeSecond(now)));
  const settleTo = settledBy(newest, overlapMs) ?? state.settled;
  return { entries, requests: pages, readTo, newest, settleTo };
}

// Behind the newest entry and not behind the clock: where the log itself falls behind, the tail waits for it.
function settledBy(newest: number | undefined, overlapMs: number): number | undefined {
  return newest === undefined ? undefined : wholeSecond(newest - overlapMs);
}

function newestOf(state: TailState, entries: readonly Entry[], now: number): number | undefined {
  let newest = state.newest;
  for (const { at } of entries) {
    if (at !== NO_TIME && (newest === undefined || at > newest)) newest = Math.min(at, now);
  }
  return newest;
}

/** The seconds in which there may be more of an entry than was passed on, as one window. */
function doubtful({ passed }: TailState, entries: readonly Entry[]): Window | undefined {
  const met = new Map<string, number>();
  for (const { key } of entries) met.set(key, (met.get(key) ?? 0) + 1);
  let [from, to] = [Infinity, -Infinity];
  for (const { key, at } of entries) {
    const count = met.get(key) ?? 0;
    if (count < 2 || count <= passed.count(key) || at === NO_TIME) continue;
    from = Math.min(from, wholeSecond(at));
    to = Math.max(to, wholeSecond(at) + SECOND_MS);
  }
  return from < to ? { from, to } : undefined;
}

async function readAgain(
  source: LogSource,
  quick: Found,
  windows: readonly (Window | undefined)[],
): Promise<{ entries: readonly Entry[]; requests: number }> {
  let { entries, pages: requests } = quick;
  for (const window of windows) {
    if (window === undefined) continue;
    const firm = await readFirmly(source, window);
    entries = [
      ...entries.filter((entry) => entry.at === NO_TIME || !isIn(window, entry)),
      ...firm.entries.filter(hasTime),
    ];
    requests += firm.pages;
  }
  return { entries, requests };
}

function hasTime({ at }: Entry): boolean {
  return at !== NO_TIME;
}

function nothingYet({ readTo, settled: settleTo, newest }: TailState): Look {
  return { entries: [], requests: 0, readTo, settleTo, newest };
}
