import type { TimeRange } from './catch-up.ts';
import type { TailState } from './checkpoint.ts';
import {
  type Entry,
  type LogSource,
  NO_TIME,
  replaced,
  secondsOf,
  wholeSecond,
  type Window,
} from './entry.ts';
import { type Found, readIfStable, readOnce, readSettled, resolved } from './read-window.ts';

/** So many equal entries are no page that shifted. */
const MANY_EQUAL = 10;

/** What a look found, and where the tail stands once all of it is passed on. */
export interface Poll {
  readonly entries: readonly Entry[];
  readonly requests: number;
  /** Up to here the log has been read. */
  readonly readTo: number;
  /** Everything before this is done with. */
  readonly settleTo: number;
  readonly newest: number | undefined;
}

/** How to look at the present. */
export interface LiveOptions {
  /** Where the look begins, in epoch milliseconds. */
  readonly from: number;
  readonly overlapMs: number;
  /** How many seconds in doubt are read again at once. */
  readonly mostDoubts: number;
}

/**
 * Reads from a time up to the present, and passes on what is beyond doubt. More of the same from several pages may be
 * one entry at a seam: some of those seconds are read again at once, the others come again with the next looks. What
 * is then done with is read once more, all of it and after the last that could come late to it, as it will not be
 * read again.
 */
export async function pollLive(
  source: LogSource,
  state: TailState,
  { from, overlapMs, mostDoubts }: LiveOptions,
): Promise<Poll> {
  const window = { from, to: wholeSecond(source.now()) };
  if (window.to <= window.from) return nothingYet(state);
  const quick = await readOnce(source, window);
  const newest = newestOf(state, quick.entries, source.now());
  const settleTo = settledBy(newest, overlapMs) ?? state.settled;
  const readTo = Math.max(state.readTo, window.to);
  if (quick.pages === 1 && from <= state.settled)
    return { entries: quick.entries, requests: 1, readTo, newest, settleTo };
  const doubts = hasUncertainEntries(state, quick, from <= state.settled).slice(0, mostDoubts);
  const { entries, pages } = await resolved(quick, doubts, (doubt) => readIfStable(source, doubt));
  if (!isWorthSettling(state, settleTo, overlapMs))
    return { entries, requests: pages, readTo, newest, settleTo: state.settled };
  const done = { from: state.settled, to: settleTo };
  const settled = await readSettled(source, done);
  const requests = pages + settled.pages;
  return { entries: replaced(entries, done, settled.entries), requests, readTo, newest, settleTo };
}

/** Whether so much could be done with that reading it once more pays. */
export function isWorthSettling({ settled }: TailState, settleTo: number, overlapMs: number): boolean {
  return settleTo - settled >= overlapMs / 4;
}

/** What reading a stretch of the past found; after it all but the overlap is done with. */
export function pollBackfill(
  source: LogSource,
  state: TailState,
  stretch: TimeRange,
  overlapMs: number,
): Poll {
  const { entries, pages, to } = stretch;
  const now = source.now();
  const newest = newestOf(state, entries, now);
  // Until an answer has told the service's time, this machine's clock may have run ahead.
  const readTo = Math.max(state.readTo, Math.min(to, wholeSecond(now)));
  // What comes after the stretch is still to be read, also where something newer was met before an outage.
  const settleTo = Math.min(to, settledBy(newest, overlapMs) ?? state.settled);
  return { entries, requests: pages, readTo, newest, settleTo };
}

/**
 * Up to where everything is in, behind the newest entry and not behind the clock: where the log itself falls behind,
 * the tail waits for it.
 */
export function settledBy(newest: number | undefined, overlapMs: number): number | undefined {
  return newest === undefined ? undefined : wholeSecond(newest - overlapMs);
}

function newestOf(state: TailState, entries: readonly Entry[], now: number): number | undefined {
  let newest = state.newest;
  for (const { at } of entries) {
    if (at !== NO_TIME && (newest === undefined || at > newest)) newest = Math.min(at, now);
  }
  return newest;
}

/**
 * The seconds to be read again, as there may be more of an entry than was passed on. A look at the newest entries alone
 * leaves the few that a seam may have doubled to those that follow.
 */
function hasUncertainEntries(
  { passed }: TailState,
  { entries, uncertain }: Found,
  isWhole: boolean,
): Window[] {
  const [met, doubted] = [countsOf(entries), countsOf(uncertain)];
  const few = isWhole ? 1 : MANY_EQUAL;
  const news = uncertain.filter(
    (entry) => (doubted.get(entry.key) ?? 0) >= few && (met.get(entry.key) ?? 0) > passed.count(entry),
  );
  return secondsOf(news);
}

function countsOf(entries: readonly Entry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key } of entries) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function nothingYet({ readTo, settled: settleTo, newest }: TailState): Poll {
  return { entries: [], requests: 0, readTo, settleTo, newest };
}
