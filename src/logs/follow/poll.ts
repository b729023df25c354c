import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { countByKey, type Entry, NO_TIME, secondsOf, type TailState, type TimeRange } from '../entry.ts';
import { type Found, type LogSource, readIfStable, readOnce, readSettled, resolved } from '../read-range.ts';

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
/** A short poll begins this long before the last one: most late entries are late by less. */
const SHORT_MS = 5_000;
/** Used instead on a very busy log, with more than {@link VERY_MANY_PAGES} unsettled pages. */
const SHORTEST_MS = 2_000;
const VERY_MANY_PAGES = 80;
/** Above this share of the readable rate, the overlap is not read again: only what is settled is read twice. */
const NEARLY_MOST = 0.75;
/** Fewer entries than this are not worth settling. */
const WORTH_SETTLING = 500;
/** When more entries than this are due, they are settled even if new ones have to wait. */
const LATE_SETTLING = 4_500;
const MINUTE_MS = 60_000;
/** The requests that one command may send in a minute: its share of a management key's limit. */
const MOST_REQUESTS = 187;
/** The most pages that are settled at once. */
const MOST_SETTLED = 15;
/** The next poll begins at most this long after this one began, and ends at most this long after this one ended. */
const NEXT_MS = 6_250;
/** A poll of the whole overlap may follow this long after the last, for each of its pages: 24 a minute. */
const MS_PER_PAGE = 2_500;
/** From this many equal entries on, a short poll reads their second again at once: a shifted page repeats fewer. */
const MANY_EQUAL = 10;

export interface LiveOptions {
  readonly overlapMs: number;
  /** From how many entries a second on the log is not polled any more. */
  readonly mostPerSecond: number;
  /** No poll follows that uncertain entries could be left to. */
  readonly isOnce: boolean;
}

/**
 * Polls the present. On a busy log, whose unsettled range has dozens of pages, most polls begin shortly before the last
 * one; the whole range is read at intervals, for late entries, or when it is settled.
 */
export class LiveWindow {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #options: LiveOptions;
  #wholeAt = -Infinity;
  #settledAt = -Infinity;
  /** What the next poll is to settle. */
  #settleTo = -Infinity;
  /** The requests of the last minute. */
  #sent: { readonly at: number; readonly requests: number }[] = [];

  constructor(source: LogSource, state: TailState, options: LiveOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether the next poll follows at once: it settles what the last one has shown to be old enough. */
  get isSettling(): boolean {
    return this.#settleTo > this.#state.settled;
  }

  /** Reads what is new, or settles. Not to be called again before all that it found was passed on. */
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
   * Passes on what is certain. More of an entry from several pages may be one entry where two pages meet: such seconds are
   * read again, now or with the next polls.
   */
  async #read(from: number): Promise<Poll> {
    const source = this.#source;
    const state = this.#state;
    const { settled } = state;
    const range = { from, to: wholeSecond(source.now()) };
    if (range.to <= range.from)
      return { entries: [], requests: 0, readTo: state.readTo, settleTo: settled, newest: state.newest };
    const begunAt = source.clock.now();
    const quick = await readOnce(source, range);
    const newest = newestOf(state, quick.entries, source.now());
    const settleTo = settledBy(newest, this.#options.overlapMs) ?? settled;
    const readTo = Math.max(state.readTo, range.to);
    const isWhole = from <= settled;
    if (quick.pages === 1 && isWhole) return { entries: quick.entries, requests: 1, readTo, newest, settleTo };
    const doubts = uncertainSeconds(state, quick, isWhole).slice(0, this.#options.isOnce ? Infinity : MAX_DOUBTS);
    const { entries, pages } = await resolved(quick, doubts, (doubt) => readIfStable(source, doubt));
    this.#sent.push({ at: source.clock.now(), requests: pages });
    this.#settleTo = this.#nextSettled(settleTo, this.#leftToSettle(begunAt, pages));
    return { entries, requests: pages, readTo, newest, settleTo: settled };
  }

  /** How far before the last poll a short one begins. */
  get #shortMs(): number {
    if (this.#isNearlyMost) return 0;
    return this.#state.passed.total > VERY_MANY_PAGES * PAGE ? SHORTEST_MS : SHORT_MS;
  }

  /** Reads again, as a whole, a range to which nothing is added any more. */
  async #settle(to: number): Promise<Poll> {
    const { settled, readTo, newest } = this.#state;
    const { entries, pages } = await readSettled(this.#source, { from: settled, to });
    this.#settledAt = this.#source.now();
    this.#sent.push({ at: this.#source.clock.now(), requests: pages });
    return { entries, requests: pages, readTo, newest, settleTo: to };
  }

  /** Requests left for settling, keeping enough for a next poll as large as this one. */
  #leftToSettle(begunAt: number, pages: number): number {
    const now = this.#source.clock.now();
    this.#sent = this.#sent.filter(({ at }) => at > now - MINUTE_MS);
    const leftAt = (time: number): number =>
      this.#sent.reduce((left, { at, requests }) => (at > time - MINUTE_MS ? left - requests : left), MOST_REQUESTS);
    return Math.min(leftAt(begunAt + NEXT_MS), leftAt(now + NEXT_MS) - pages, MOST_SETTLED);
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
    // While so much is settled all the time, that finds the late entries.
    const lastAt = restMs < this.#options.overlapMs ? this.#wholeAt : Math.max(this.#wholeAt, this.#settledAt);
    return now >= lastAt + restMs;
  }

  /**
   * Up to where to settle next, if that pays yet. Where each request counts, no more than there are requests left for,
   * unless it is late, and so much that the last page is nearly full.
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
  for (const { at } of entries) {
    const isNewer = at !== NO_TIME && (newest === undefined || at > newest);
    if (isNewer) newest = Math.min(at, now);
  }
  return newest;
}

/** The seconds to read again for more of an entry; a short poll leaves a few possible duplicates to the next ones. */
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
const LONGEST_MS = 60_000;
/** With nothing new, this long a pause for each request: 30 a minute; a sixth of a management key's 200 is 33. */
const IDLE_MS_PER_REQUEST = 2_000;
/** With much news, this long a pause for each request: half of a management key's limit. */
const BUSY_MS_PER_REQUEST = 600;
/** The longest of these pauses, counted from the beginning of the last poll. */
const SOON_MS = 6_000;

/** How long to wait between two polls: 1 s to 15 s by what the last ones found, or always the same. */
export class PollRate {
  readonly #fixed: number | undefined;
  #ms = 2_000;
  #requestsBefore = 1;

  constructor(fixedMs: number | undefined) {
    this.#fixed = fixedMs;
  }

  /**
   * Milliseconds to the next poll, after one that took so long until `now`, by the service's clock. Each request of the
   * poll before may itself have been logged, so as many entries as that are no news.
   */
  after(requests: number, entries: number, tookMs: number, now: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const isNews = entries > this.#requestsBefore;
    this.#requestsBefore = requests;
    this.#ms = isNews ? Math.max(FASTEST_MS, this.#ms / 2) : Math.min(SLOWEST_MS, this.#ms * 1.5);
    if (!isNews) return Math.min(LONGEST_MS, Math.max(this.#ms, requests * IDLE_MS_PER_REQUEST));
    const ms = Math.max(this.#ms, Math.min(requests * BUSY_MS_PER_REQUEST, SOON_MS) - tookMs);
    // A poll reads whole seconds: half a second later, nearly all entries of the last one can be seen.
    return wholeSecond(now + ms) + SECOND_MS / 2 - now;
  }
}

/** So many entries a second the requests that one command gets suffice to read twice. */
export const MOST_PER_SECOND = 155;
/** The share of them from which on they are read twice again. */
const FEW_AGAIN = 0.7;
const MEMORY_MS = 120_000;
const LONG_ENOUGH_MS = 60_000;

/** How many entries a second a log gets, by its own time: those of the last minute count most. */
export class EntryRate {
  readonly #most: number;
  #entries = 0;
  #ms = 0;

  constructor(most: number) {
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
