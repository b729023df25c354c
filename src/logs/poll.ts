import type { Log } from '../schema/log.ts';
import {
  countByKey,
  type Entry,
  NO_TIME,
  replaced,
  secondsOf,
  type TailState,
  type TimeRange,
  wholeSecond,
} from './entry.ts';
import { type Found, type LogSource, readIfStable, readOnce, readSettled, resolved } from './read-range.ts';

/** What a poll found, and how far the tail has got once all of it is passed on. */
export interface Poll {
  readonly entries: readonly Entry[];
  readonly requests: number;
  /** The log was read up to here. */
  readonly readTo: number;
  /** All entries from before this time are known. */
  readonly settleTo: number;
  readonly newest: number | undefined;
}

const PAGE = 100;
/** Uncertain seconds that a poll reads again at once; the others come again with the next polls. */
const MAX_DOUBTS = 5;
/** How far before the last poll a short one begins: most late entries are late by less. Less far on a very busy log. */
const [SHORT_MS, SHORTEST_MS] = [5_000, 2_000];
/** So many pages of unsettled entries are very many, and so many are worth to be settled. */
const [VERY_MANY_PAGES, SETTLED_PAGES] = [80, 8];
/** A poll of the whole overlap may follow this long after the last, for each of its pages: 24 a minute. */
const MS_PER_PAGE = 2_500;
/** So many equal entries are no page that shifted. */
const MANY_EQUAL = 10;

/**
 * Polls the present. On a busy log, whose unsettled range has dozens of pages, most polls begin shortly before the last
 * one; the whole range is read at intervals, for late entries, or when it is settled.
 */
export class LiveWindow {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #overlapMs: number;
  readonly #isOnce: boolean;
  #wholeAt = -Infinity;
  #settledAt = -Infinity;

  /** `isOnce`: no poll follows that uncertain entries could be left to. */
  constructor(source: LogSource, state: TailState, overlapMs: number, isOnce: boolean) {
    this.#source = source;
    this.#state = state;
    this.#overlapMs = overlapMs;
    this.#isOnce = isOnce;
  }

  /** Reads what is new. Not to be called again before all that it found was passed on. */
  async poll(): Promise<Poll> {
    const { settled, readTo, passed } = this.#state;
    const now = this.#source.now();
    const isWhole = this.#isOnce || this.#isWholeDue(now);
    const shortMs = passed.total > VERY_MANY_PAGES * PAGE ? SHORTEST_MS : SHORT_MS;
    const poll = await this.#read(isWhole ? settled : Math.max(settled, readTo - shortMs));
    if (isWhole) this.#wholeAt = now;
    return poll;
  }

  /**
   * Passes on what is certain. More of an entry from several pages may be one entry where two pages meet: such seconds are
   * read again, now or with the next polls. What is settled is read once more as a whole.
   */
  async #read(from: number): Promise<Poll> {
    const [source, state] = [this.#source, this.#state];
    const { settled } = state;
    const range = { from, to: wholeSecond(source.now()) };
    if (range.to <= range.from)
      return { entries: [], requests: 0, readTo: state.readTo, settleTo: settled, newest: state.newest };
    const quick = await readOnce(source, range);
    const newest = newestOf(state, quick.entries, source.now());
    const settleTo = settledBy(newest, this.#overlapMs) ?? settled;
    const readTo = Math.max(state.readTo, range.to);
    const isWhole = from <= settled;
    if (quick.pages === 1 && isWhole) return { entries: quick.entries, requests: 1, readTo, newest, settleTo };
    const doubts = uncertainSeconds(state, quick, isWhole).slice(0, this.#isOnce ? Infinity : MAX_DOUBTS);
    const { entries, pages } = await resolved(quick, doubts, (doubt) => readIfStable(source, doubt));
    if (!this.#isWorthSettling(settleTo)) return { entries, requests: pages, readTo, newest, settleTo: settled };
    const done = { from: settled, to: settleTo };
    this.#settledAt = source.now();
    const better = await readSettled(source, done);
    const requests = pages + better.pages;
    return { entries: replaced(entries, done, better.entries), requests, readTo, newest, settleTo };
  }

  #isWholeDue(now: number): boolean {
    const { passed } = this.#state;
    const pages = 1 + Math.floor(passed.total / PAGE);
    if (pages === 1) return true;
    const restMs = pages * MS_PER_PAGE;
    // While so much is settled all the time, that finds the late entries.
    const lastAt = restMs < this.#overlapMs ? this.#wholeAt : Math.max(this.#wholeAt, this.#settledAt);
    return now >= lastAt + restMs;
  }

  /** Whether so much could be settled that reading it once more pays. */
  #isWorthSettling(settleTo: number): boolean {
    const { settled, readTo, passed } = this.#state;
    const share = (settleTo - settled) / (readTo - settled);
    return settleTo - settled >= this.#overlapMs / 4 || share * passed.total >= SETTLED_PAGES * PAGE;
  }
}

/** What reading a range of the past found; after it all but the overlap is settled. */
export function pollBackfill(
  source: LogSource,
  state: TailState,
  { entries, pages, to }: TimeRange & Omit<Found, 'uncertain'>,
  overlapMs: number,
): Poll {
  const now = source.now();
  const newest = newestOf(state, entries, now);
  // Until a response has shown the service's time, this machine's clock may be ahead.
  const readTo = Math.max(state.readTo, Math.min(to, wholeSecond(now)));
  // What comes after the range is still to be read, also where something newer was met before an outage.
  const settleTo = Math.min(to, settledBy(newest, overlapMs) ?? state.settled);
  return { entries, requests: pages, readTo, newest, settleTo };
}

/** Up to where no late entries are expected: by the newest entry, not by the clock, as the log itself may lag behind. */
function settledBy(newest: number | undefined, overlapMs: number): number | undefined {
  return newest === undefined ? undefined : wholeSecond(newest - overlapMs);
}

function newestOf(state: TailState, entries: readonly Entry[], now: number): number | undefined {
  let { newest } = state;
  for (const { at } of entries) if (at !== NO_TIME && (newest === undefined || at > newest)) newest = Math.min(at, now);
  return newest;
}

/** The seconds to read again for more of an entry; a short poll leaves a few possible duplicates to the next ones. */
function uncertainSeconds({ passed }: TailState, { entries, uncertain }: Found, isWhole: boolean): TimeRange[] {
  const [met, doubted] = [countByKey(entries), countByKey(uncertain)];
  const few = isWhole ? 1 : MANY_EQUAL;
  const news = uncertain.filter(
    (entry) => (doubted.get(entry.key) ?? 0) >= few && (met.get(entry.key) ?? 0) > passed.count(entry),
  );
  return secondsOf(news);
}

const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
const LONGEST_MS = 60_000;
/** With nothing new, this long a pause for each request: 30 a minute; a sixth of a management key's 200 is 33. */
const IDLE_MS_PER_REQUEST = 2_000;
/** With much news, half of a management key's limit; more of it where the next poll would be later than this. */
const [BUSY_MS_PER_REQUEST, BUSIEST_MS_PER_REQUEST] = [600, 375];
const SOON_MS = 5_000;

/** How long to wait between two polls: 1 s to 15 s by what the last ones found, or always the same. */
export class PollRate {
  readonly #fixed: number | undefined;
  #ms = 2_000;

  constructor(fixedMs: number | undefined) {
    this.#fixed = fixedMs;
  }

  /**
   * Milliseconds to the next poll, after one that took so long. Each request may itself be logged, so as many entries as
   * that are no news.
   */
  after(requests: number, entries: number, tookMs: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const isNews = entries > requests;
    this.#ms = isNews ? Math.max(FASTEST_MS, this.#ms / 2) : Math.min(SLOWEST_MS, this.#ms * 1.5);
    if (!isNews) return Math.min(LONGEST_MS, Math.max(this.#ms, requests * IDLE_MS_PER_REQUEST));
    const busyMs = Math.max(Math.min(requests * BUSY_MS_PER_REQUEST, SOON_MS), requests * BUSIEST_MS_PER_REQUEST);
    return Math.max(this.#ms, busyMs - tookMs);
  }
}

/** So many entries a second a key's requests suffice to read twice, with some left for other commands. */
const MOST_PER_SECOND = 110;
/** The share of them from which on they are read twice again. */
const FEW_AGAIN = 0.7;
const MEMORY_MS = 60_000;
const LONG_ENOUGH_MS = 30_000;

/** How many entries a second a log gets, by its own time: those of the last minute count most. */
export class EntryRate {
  readonly #most: number;
  #entries = 0;
  #ms = 0;

  constructor(most = MOST_PER_SECOND) {
    this.#most = most;
  }

  /** So many entries were created within so many milliseconds. */
  add(entries: number, ms: number): void {
    const left = Math.exp(-ms / MEMORY_MS);
    this.#entries = this.#entries * left + entries;
    this.#ms = this.#ms * left + ms;
  }

  /** Whether the log is too busy to be read twice, given whether it was until now. A short burst does not count. */
  isTooHigh(before: boolean): boolean {
    if (this.#ms < LONG_ENOUGH_MS) return before;
    return (this.#entries / this.#ms) * 1000 > this.#most * (before ? FEW_AGAIN : 1);
  }
}

/** Reads are remembered by their content, the last so many of them. */
const MAX_KNOWN = 100;

/** Recognizes a tail's own reads, which the service may log: otherwise a tail would never be idle. */
export class SelfEventFilter {
  readonly #known = new Set<string>();
  /** Requests whose entry was not met yet. */
  #requests: number;

  /** `requests` were made before; the usual one learned the service's time. */
  constructor(requests = 1) {
    this.#requests = requests;
  }

  requested(requests: number): void {
    this.#requests += requests;
  }

  /** Whether the entry is not caused by the tail itself. */
  isNews(log: Log): boolean {
    if (log.operation !== 'read') return true;
    const content = JSON.stringify({ ...log, created_at: undefined, id: undefined });
    if (this.#known.delete(content) && this.#requests > 0) {
      this.#known.add(content);
      this.#requests -= 1;
      return false;
    }
    this.#known.add(content);
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return true;
  }
}
