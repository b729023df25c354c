import { isSvcError } from '../errors.ts';
import type { Log } from '../schema/log.ts';
import { CatchUpReader } from './catch-up.ts';
import { type TailPosition, TailState } from './checkpoint.ts';
import type { Entry, LogSource, TailEvent, TailOptions } from './entry.ts';
import { isWorthSettling, type Poll, pollLive, settledBy } from './poll.ts';

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response', 'truncated'] as const;
const POSITION_EVERY_MS = 30_000;
/** So many looks in a row whose pages could not all be read: then a second holds more than a cursor lives for. */
const MOST_INCOMPLETE = 10;

/**
 * Follows a log: nothing is lost and nothing comes twice, as long as no entry comes later than the overlap. Gives
 * entries in batches, each in order of time. The reader has taken a batch when it asks for the next one: only then
 * is the standing told. Outages do not end it; a refused key does, and pages
 * that can never be read to the end.
 */
export class Tail {
  readonly #source: LogSource;
  readonly #options: TailOptions;
  readonly #state: TailState;
  readonly #catchUp: CatchUpReader;
  readonly #present: LiveWindow;
  readonly #pace: PollRate;
  readonly #startedAt: number;
  readonly #echo = new SelfEventFilter();
  #lastNewsAt: number;
  #toldAt = -Infinity;
  #counted = 0;
  #shown = 0;
  /** Those of them that this tail did not cause itself. */
  #news = 0;
  #failures = 0;
  /** Those of them that broke off on the way through the pages. */
  #incomplete = 0;
  /** Since when it was cut off or behind, and how many entries came since. */
  #behind: { at: number; shown: number } | undefined;
  #hasRead = false;

  constructor(source: LogSource, options: TailOptions) {
    this.#source = source;
    this.#options = options;
    this.#state = new TailState(options.begin);
    const { overlapMs, retentionMs } = options;
    this.#catchUp = new CatchUpReader(source, this.#state, {
      overlapMs,
      retentionMs,
      onEvent: (event) => this.#tell(event),
    });
    this.#present = new LiveWindow(source, this.#state, overlapMs, options.untilPresent === true);
    this.#pace = new PollRate(options.intervalMs);
    this.#startedAt = this.#lastNewsAt = source.clock.now();
  }

  /** Where it stands: every entry given so far is behind it. */
  standing(): TailPosition {
    return this.#state.standing();
  }

  /** The entries, until there is a reason to end. @throws SvcError that ends it; the signal's reason */
  async *batches(): AsyncGenerator<readonly Log[]> {
    try {
      yield* this.#batches();
    } finally {
      this.#catchUp.stop();
    }
  }

  async *#batches(): AsyncGenerator<readonly Log[]> {
    while (this.#leftMs() > 0) {
      const isBehind = this.#catchUp.isBehind;
      if (isBehind) this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
      const look = await this.#look(isBehind);
      if (look === 'over') return;
      if (look === 'failed') continue;
      const [counted, shown, news] = [this.#counted, this.#shown, this.#news];
      const isWhole = yield* this.#pass(look);
      this.#echo.asked(look.requests);
      // Whoever takes them may need long for it: only now the wait for news begins.
      if (this.#news > news) this.#lastNewsAt = this.#source.clock.now();
      this.#tellStanding(this.#counted > counted);
      if (!isWhole || this.#shown === this.#options.most) return;
      if (isBehind) this.#tell({ kind: 'catching up', readTo: this.#state.readTo, now: this.#source.now() });
      else if (this.#options.untilPresent === true) return;
      else await this.#rest(look, this.#shown - shown);
    }
  }

  async #look(isBehind: boolean): Promise<Poll | 'over' | 'failed'> {
    const work = isBehind ? this.#catchUp.look() : this.#present.look();
    try {
      const look = await this.#whileTimeLasts(work);
      this.#hasRead = true;
      this.#failures = this.#incomplete = 0;
      return look;
    } catch (error) {
      this.#source.signal.throwIfAborted();
      if (!this.#isOutage(error)) throw error;
      if (isSvcError(error, 'truncated') && (this.#incomplete += 1) >= MOST_INCOMPLETE) throw error;
      await this.#waitOut(error.message);
      return 'failed';
    }
  }

  // At the start, what no waiting mends is a mistake in the settings and no outage.
  #isOutage(error: unknown): error is Error {
    if (!isSvcError(error, ...OUTAGE) || this.#options.untilPresent === true) return false;
    return this.#hasRead || error.retryable || error.code === 'truncated';
  }

  async #waitOut(reason: string): Promise<void> {
    this.#failures += 1;
    const nextMs = pauseAfterFailure(this.#failures);
    this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
    if (this.#failures === 1) this.#tell({ kind: 'cut off', reason, nextMs });
    await this.#sleep(nextMs);
  }

  /** Counts what is new and gives what of it is to be shown. Not whole when there was no room for all. */
  *#pass(look: Poll): Generator<readonly Log[], boolean> {
    const { keep = () => true, most = Infinity, atOnce = Infinity, onPass } = this.#options;
    let logs: Log[] = [];
    let isWhole = true;
    for (const entry of this.#state.passed.surplus(look.entries.toSorted(byTime))) {
      if (logs.length >= atOnce) {
        yield logs;
        logs = [];
        this.#tellStanding(true);
      }
      isWhole = this.#shown < most;
      if (!isWhole) break;
      this.#state.passed.add(entry);
      this.#counted += 1;
      if (!keep(entry.log)) continue;
      onPass?.(entry.log, `${entry.key}-${this.#state.passed.count(entry)}`);
      logs.push(entry.log);
      this.#shown += 1;
      if (this.#options.idleMs === undefined || this.#echo.isNews(entry.log)) this.#news += 1;
    }
    if (isWhole) this.#reach(look);
    if (logs.length > 0) yield logs;
    return isWhole;
  }

  // What is taken from here on comes from after the look: with its last entries all of it is passed on.
  #reach({ newest, readTo, settleTo }: Poll): void {
    this.#state.newest = newest;
    this.#state.readTo = readTo;
    this.#state.settle(settleTo);
  }

  /** The present is reached: says so if it was not before, and waits until the next look. */
  async #rest({ requests }: Poll, entries: number): Promise<void> {
    const now = this.#source.clock.now();
    if (this.#behind) {
      const { at, shown } = this.#behind;
      this.#tell({ kind: 'caught up', afterMs: now - at, entries: this.#shown - shown });
      this.#behind = undefined;
    }
    const nextMs = this.#pace.after(requests, entries);
    this.#tell({ kind: 'looked', nextMs });
    await this.#sleep(nextMs);
  }

  async #sleep(ms: number): Promise<void> {
    const { clock, signal } = this.#source;
    await clock.sleep(Math.min(ms, this.#leftMs()), signal);
  }

  /** Milliseconds until the time given is over, or until nothing came for as long as was given. */
  #leftMs(): number {
    const { forMs = Infinity, idleMs = Infinity } = this.#options;
    const now = this.#source.clock.now();
    return Math.max(0, Math.min(this.#startedAt + forMs, this.#lastNewsAt + idleMs) - now);
  }

  // A look can last long when answers fail to come, but the end that was asked for is kept.
  async #whileTimeLasts(work: Promise<Poll>): Promise<Poll | 'over'> {
    const left = this.#startedAt + (this.#options.forMs ?? Infinity) - this.#source.clock.now();
    if (left === Infinity) return work;
    const done = new AbortController();
    const over = this.#source.clock.sleep(left, AbortSignal.any([done.signal, this.#source.signal]));
    try {
      return await Promise.race([work, over.then(() => 'over' as const)]);
    } finally {
      done.abort();
      over.catch(ignore);
      work.catch(ignore);
    }
  }

  // Without news only the time up to which was read has changed, and half a minute of that is soon read again.
  #tellStanding(hasNews: boolean): void {
    const now = this.#source.clock.now();
    if (!hasNews && now - this.#toldAt < POSITION_EVERY_MS) return;
    this.#toldAt = now;
    this.#options.onStanding?.(this.standing());
  }

  #tell(event: TailEvent): void {
    this.#options.onEvent?.(event);
  }
}

function byTime(one: Entry, other: Entry): number {
  return one.at - other.at;
}

function ignore(): void {
  // What the race was decided by has been told.
}

const PAGE = 100;
/** Seconds in doubt that a look reads again at once; the others come again with the next looks. */
const MAX_DOUBTS = 5;
/** How far before the last look a short one begins: most of what is late is late by less. */
const SHORT_MS = 5_000;
/** A look over the whole overlap may come this long after the one before, for each of its pages: 24 a minute. */
const MS_PER_PAGE = 2_500;

/**
 * Looks at the present. Where all that is not done with fits a page, each look takes in all of it. A busy log has
 * dozens of pages there: then most looks begin shortly before the last one, and the whole is read to a rhythm, for
 * what came late, or not at all while parts of it are read once more before they are done with.
 */
class LiveWindow {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #overlapMs: number;
  readonly #isOnce: boolean;
  #wholeAt = -Infinity;

  /** `isOnce`: no look follows that what is in doubt could be left to. */
  constructor(source: LogSource, state: TailState, overlapMs: number, isOnce: boolean) {
    this.#source = source;
    this.#state = state;
    this.#overlapMs = overlapMs;
    this.#isOnce = isOnce;
  }

  /** Reads what is new. Not to be called again before all that it found was passed on. */
  async look(): Promise<Poll> {
    const { settled, readTo } = this.#state;
    const now = this.#source.now();
    const isWhole = this.#isOnce || this.#isWholeDue(now);
    const from = isWhole ? settled : Math.max(settled, readTo - SHORT_MS);
    const look = await pollLive(this.#source, this.#state, {
      from,
      overlapMs: this.#overlapMs,
      mostDoubts: this.#isOnce ? Infinity : MAX_DOUBTS,
    });
    if (isWhole) this.#wholeAt = now;
    return look;
  }

  #isWholeDue(now: number): boolean {
    const { passed, newest, settled } = this.#state;
    const pages = 1 + Math.floor(passed.total / PAGE);
    if (pages === 1) return true;
    const restMs = pages * MS_PER_PAGE;
    if (now < this.#wholeAt + restMs) return false;
    const settleTo = settledBy(newest, this.#overlapMs) ?? settled;
    return restMs < this.#overlapMs || !isWorthSettling(this.#state, settleTo, this.#overlapMs);
  }
}

const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
const LONGEST_MS = 60_000;
/** With nothing new, this long a pause for each request: 30 a minute, a sixth of a management key's 200 is 33. */
const IDLE_MS_PER_REQUEST = 2_000;
/** With much news, this long a pause for each request: half of what a management key may ask. */
const BUSY_MS_PER_REQUEST = 600;

/** How long to wait between two looks: 1 s to 15 s by what the last ones found, or always the same. */
class PollRate {
  readonly #fixed: number | undefined;
  #ms = 2_000;

  constructor(fixedMs: number | undefined) {
    this.#fixed = fixedMs;
  }

  /** Milliseconds to the next look. Each request may itself be logged, so as many entries as that are no news. */
  after(requests: number, entries: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const isNews = entries > requests;
    this.#ms = isNews ? Math.max(FASTEST_MS, this.#ms / 2) : Math.min(SLOWEST_MS, this.#ms * 1.5);
    const each = isNews ? BUSY_MS_PER_REQUEST : IDLE_MS_PER_REQUEST;
    return Math.min(LONGEST_MS, Math.max(this.#ms, requests * each));
  }
}

/** How long to wait after the nth look in a row that brought no answer: 1 s at first, at most half a minute. */
function pauseAfterFailure(failures: number): number {
  return Math.min(30_000, 1_000 * 2 ** (failures - 1));
}

/** Reads are remembered by what they look like, the last so many of them. */
const MAX_KNOWN = 100;

/**
 * Tells the entries that a tail's own reads leave in the log from those of others: reads that look like an earlier one
 * but for their time, one for each request. Without that, a tail of a service that logs reads would never be idle.
 */
class SelfEventFilter {
  readonly #known = new Set<string>();
  /** Requests whose entry was not met yet. The first one asked the service for its time. */
  #asked = 1;

  /** Takes note of requests that were made. */
  asked(requests: number): void {
    this.#asked += requests;
  }

  /** Whether this is news, and no trace of the tail itself. */
  isNews(log: Log): boolean {
    if (log.operation !== 'read') return true;
    const looks = JSON.stringify({ ...log, created_at: undefined, id: undefined });
    if (this.#known.delete(looks) && this.#asked > 0) {
      this.#known.add(looks);
      this.#asked -= 1;
      return false;
    }
    this.#known.add(looks);
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return true;
  }
}
