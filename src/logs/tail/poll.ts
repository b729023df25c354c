// Polls the newest entries of a log, and decides how often.

import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { countByKey, type Entry, NO_TIME, secondsOf, type TailState, type TimeRange } from '../entry.ts';
import { type Found, type LogSource, readIfStable, readOnce, readSettled, resolved } from '../read-range.ts';

/** The entries that a poll found, and the state of the tail once all of them are passed on. */
export interface Poll {
  readonly entries: readonly Entry[];
  readonly requests: number;
  /** The end of the range that this poll read. What was read before may reach further. */
  readonly end: number;
  /** The time up to which the log was read. */
  readonly readTo: number;
  /** The time before which all entries are known. */
  readonly settleTo: number;
  readonly newest: number | undefined;
}

const PAGE = 100;
/** The largest number of uncertain seconds that a poll reads again. The next polls read the others. */
const MAX_DOUBTS = 5;
/** How long before the previous poll a short poll begins. Most late entries are less late than this. */
const SHORT_MS = 5_000;
/** The same duration for a very busy log, with more than {@link VERY_MANY_PAGES} unsettled pages. */
const MIN_MS = 2_000;
const VERY_MANY_PAGES = 80;
/** Above this share of the readable rate, short polls skip the overlap, and only settling reads entries twice. */
const NEARLY_MOST = 0.75;
/** The fewest entries worth settling. */
const WORTH_SETTLING = 500;
/** The number of due entries above which settling goes before new entries. */
const LATE_SETTLING = 4_500;
/** The most requests of one command in a minute: its share of a management key's limit. */
const MAX_REQUESTS = 187;
/** The most pages settled at once. */
const MAX_SETTLED = 15;
/** The longest time between the beginnings of two polls, and between their ends. */
const NEXT_MS = 6_250;
/** The pause between two polls of the whole overlap, for each of its pages: 24 pages a minute. */
const MS_PER_PAGE = 2_500;
/** The number of equal entries from which a short poll reads their second again. Shifted pages repeat fewer. */
const MANY_EQUAL = 10;

export interface LiveOptions {
  readonly overlapMs: number;
  /** The entries per second above which the log is no longer polled. */
  readonly mostPerSecond: number;
  /** Whether this is the only poll, so that uncertain entries cannot be left to a later one. */
  readonly isOnce: boolean;
}

/**
 * Polls the present. On a busy log, the unsettled range has dozens of pages. Most polls then begin shortly before the
 * previous one, and the whole range is read only at intervals to find late entries, or when it is settled.
 */
export class LiveWindow {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #options: LiveOptions;
  #wholeAt = -Infinity;
  #settledAt = -Infinity;
  /** The time up to which the next poll settles. */
  #settleTo = -Infinity;
  /** The requests sent in the last minute. */
  #sent: { readonly at: number; readonly requests: number }[] = [];

  constructor(source: LogSource, state: TailState, options: LiveOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether the next poll follows at once, to settle entries that are old enough. */
  get isSettling(): boolean {
    return this.#settleTo > this.#state.settled;
  }

  /** Reads new entries, or settles. Must not be called again before all found entries were passed on. */
  async poll(): Promise<Poll> {
    const { settled, readTo } = this.#state;
    const settleTo = this.#settleTo;
    this.#settleTo = -Infinity;
    if (settleTo > settled) return this.#settle(settleTo);
    const now = this.#source.now();
    const isWhole = this.#options.isOnce || this.#isWholeDue(now);
    const poll = await this.#read(isWhole ? settled : Math.max(settled, readTo - this.#shortMs));
    if (isWhole) this.#wholeAt = now;
    return poll;
  }

  /**
   * Reads once and returns the certain entries. Equal entries on several pages may be one entry that moved between pages,
   * so their seconds are read again, now or by the next polls.
   */
  async #read(from: number): Promise<Poll> {
    const source = this.#source;
    const state = this.#state;
    const { settled } = state;
    const range = { from, to: wholeSecond(source.now()) };
    if (range.to <= range.from)
      return { entries: [], requests: 0, end: from, readTo: state.readTo, settleTo: settled, newest: state.newest };
    const begunAt = source.clock.now();
    const quick = await readOnce(source, range);
    const newest = newestOf(state, quick.entries, source.now());
    const settleTo = settledBy(newest, this.#options.overlapMs) ?? settled;
    const readTo = Math.max(state.readTo, range.to);
    const isWhole = from <= settled;
    if (quick.pages === 1 && isWhole)
      return { entries: quick.entries, requests: 1, end: range.to, readTo, newest, settleTo };
    const doubts = uncertainSeconds(state, quick, isWhole).slice(0, this.#options.isOnce ? Infinity : MAX_DOUBTS);
    const { entries, pages } = await resolved(quick, doubts, (doubt) => readIfStable(source, doubt));
    this.#sent.push({ at: source.clock.now(), requests: pages });
    this.#settleTo = this.#nextSettled(settleTo, this.#leftToSettle(begunAt, pages));
    return { entries, requests: pages, end: range.to, readTo, newest, settleTo: settled };
  }

  /** How long before the previous poll a short poll begins. */
  get #shortMs(): number {
    if (this.#isNearlyMost) return 0;
    return this.#state.passed.total > VERY_MANY_PAGES * PAGE ? MIN_MS : SHORT_MS;
  }

  /** Reads again a whole range that gets no more entries. */
  async #settle(to: number): Promise<Poll> {
    const { settled, readTo, newest } = this.#state;
    const { entries, pages } = await readSettled(this.#source, { from: settled, to });
    this.#settledAt = this.#source.now();
    this.#sent.push({ at: this.#source.clock.now(), requests: pages });
    return { entries, requests: pages, end: to, readTo, newest, settleTo: to };
  }

  /** Requests left for settling, keeping enough for a next poll as large as this one. */
  #leftToSettle(begunAt: number, pages: number): number {
    const now = this.#source.clock.now();
    this.#sent = this.#sent.filter(({ at }) => at > now - MINUTE_MS);
    const leftAt = (time: number): number =>
      this.#sent.reduce((left, { at, requests }) => (at > time - MINUTE_MS ? left - requests : left), MAX_REQUESTS);
    return Math.min(leftAt(begunAt + NEXT_MS), leftAt(now + NEXT_MS) - pages, MAX_SETTLED);
  }

  get #isNearlyMost(): boolean {
    const { settled, readTo, passed } = this.#state;
    return (passed.total * SECOND_MS) / (readTo - settled) > this.#options.mostPerSecond * NEARLY_MOST;
  }

  #isWholeDue(now: number): boolean {
    const { passed } = this.#state;
    const pages = 1 + Math.floor(passed.total / PAGE);
    if (pages === 1) return true;
    const restMs = pages * MS_PER_PAGE;
    // On a very busy log, settling runs often enough to find the late entries.
    const lastAt = restMs < this.#options.overlapMs ? this.#wholeAt : Math.max(this.#wholeAt, this.#settledAt);
    return now >= lastAt + restMs;
  }

  /**
   * Returns the time up to which to settle next; the present value if it is not worth it yet. On a very busy log, the
   * range fits the requests left, unless settling is late, and ends where its last page is nearly full.
   */
  #nextSettled(dueTo: number, left: number): number {
    const { settled, readTo, passed } = this.#state;
    const due = (passed.total * (dueTo - settled)) / (readTo - settled);
    if (dueTo - settled < this.#options.overlapMs / 4 && !(due >= WORTH_SETTLING)) return settled;
    if (this.#options.isOnce || !this.#isNearlyMost) return dueTo;
    const most = Math.max(left * PAGE, (due - LATE_SETTLING) / 8);
    if (most < WORTH_SETTLING) return settled;
    let best = dueTo;
    let least = Infinity;
    let count = 0;
    for (let to = settled + SECOND_MS; to <= dueTo; to += SECOND_MS) {
      count += passed.countOf(to - SECOND_MS);
      if (count > most && least < Infinity) break;
      const free = Math.ceil(count / PAGE) * PAGE - count;
      if (free <= least && count >= Math.min(due, most) / 2) {
        best = to;
        least = free;
      }
    }
    return best;
  }
}

/** Converts a range read by a backfill into a poll. Everything before the overlap is then settled. */
export function pollBackfill(
  source: LogSource,
  state: TailState,
  { entries, pages, to }: TimeRange & Omit<Found, 'uncertain'>,
  overlapMs: number,
): Poll {
  const now = source.now();
  const newest = newestOf(state, entries, now);
  // This machine's clock may be ahead until a response has shown the service's time.
  const readTo = Math.max(state.readTo, Math.min(to, wholeSecond(now)));
  // Nothing after the range is settled yet, even if newer entries were read before an outage.
  const settleTo = Math.min(to, settledBy(newest, overlapMs) ?? state.settled);
  return { entries, requests: pages, end: to, readTo, newest, settleTo };
}

/** Returns the time before which no late entries are expected. The newest entry decides, because the log may lag behind the clock. */
function settledBy(newest: number | undefined, overlapMs: number): number | undefined {
  return newest === undefined ? undefined : wholeSecond(newest - overlapMs);
}

function newestOf(state: TailState, entries: readonly Entry[], now: number): number | undefined {
  let { newest } = state;
  for (const { at } of entries) {
    const isNewer = at !== NO_TIME && (newest === undefined || at > newest);
    if (isNewer) newest = Math.min(at, now);
  }
  return newest;
}

/** Returns the seconds to read again because of equal entries. A short poll leaves a few possible duplicates to the next polls. */
function uncertainSeconds({ passed }: TailState, { entries, uncertain }: Found, isWhole: boolean): TimeRange[] {
  const met = countByKey(entries);
  const doubted = countByKey(uncertain);
  const few = isWhole ? 1 : MANY_EQUAL;
  const news = uncertain.filter(
    (entry) => (doubted.get(entry.key) ?? 0) >= few && (met.get(entry.key) ?? 0) > passed.count(entry),
  );
  return secondsOf(news);
}

const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
const MAX_MS = 60_000;
/** The pause for each request on a quiet log: 30 requests a minute, less than a sixth of a management key's 200. */
const IDLE_MS_PER_REQUEST = 2_000;
/** The pause for each request on a busy log: half of a management key's limit. */
const BUSY_MS_PER_REQUEST = 600;
/** The longest pause on a busy log, from the beginning of the previous poll. */
const SOON_MS = 6_000;

/** Computes the pause between two polls: 1 s to 15 s depending on recent polls, or a fixed pause. */
export class PollRate {
  readonly #fixed: number | undefined;
  #ms = 2_000;
  #requestsBefore = 1;

  constructor(fixedMs: number | undefined) {
    this.#fixed = fixedMs;
  }

  /**
   * Returns the milliseconds to the next poll, after one that took `tookMs` until `now`, by the service's clock. The
   * service may have logged each request of the previous poll, so that many entries do not count as news.
   */
  after(requests: number, entries: number, tookMs: number, now: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const isNews = entries > this.#requestsBefore;
    this.#requestsBefore = requests;
    this.#ms = isNews ? Math.max(FASTEST_MS, this.#ms / 2) : Math.min(SLOWEST_MS, this.#ms * 1.5);
    if (!isNews) return Math.min(MAX_MS, Math.max(this.#ms, requests * IDLE_MS_PER_REQUEST));
    const ms = Math.max(this.#ms, Math.min(requests * BUSY_MS_PER_REQUEST, SOON_MS) - tookMs);
    // A poll reads whole seconds. Half a second after one ends, nearly all of its entries are visible.
    return wholeSecond(now + ms) + SECOND_MS / 2 - now;
  }
}

/** The number of entries per second that one command can read twice with its requests. */
export const MAX_PER_SECOND = 155;
/** Below this share of `MAX_PER_SECOND`, entries are read twice again. */
const FEW_AGAIN = 0.7;
const MEMORY_MS = 120_000;
const LONG_ENOUGH_MS = 60_000;

/** Estimates a log's entries per second by their times. The last minute counts most. */
export class EntryRate {
  readonly #most: number;
  #entries = 0;
  #ms = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a number of entries that were created within `ms` milliseconds. */
  add(entries: number, ms: number): void {
    const left = Math.exp(-ms / MEMORY_MS);
    this.#entries = this.#entries * left + entries;
    this.#ms = this.#ms * left + ms;
  }

  /** Whether the log is too busy to be read twice. `before` is the previous result. A short burst does not count. */
  isTooHigh(before: boolean): boolean {
    if (this.#ms < LONG_ENOUGH_MS) return before;
    return (this.#entries / this.#ms) * 1000 > this.#most * (before ? FEW_AGAIN : 1);
  }
}

/** The number of logged reads that are remembered, by their content. */
const MAX_KNOWN = 100;

/** Recognizes log entries about the reads of a tail itself. Without this, a tail would never be idle. */
export class SelfEventFilter {
  readonly #known = new Set<string>();
  /** The number of requests whose log entry was not read yet. */
  #requests: number;

  /** `requests` is the number of earlier requests: usually one, which learned the service's time. */
  constructor(requests = 1) {
    this.#requests = requests;
  }

  requested(requests: number): void {
    this.#requests += requests;
  }

  /** Whether an entry is not about a read of the tail itself. */
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
