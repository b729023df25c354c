import { isSvcError } from '../../base/errors.ts';
import type { Clock } from '../../base/system.ts';
import type { Log } from '../../schema/log.ts';
import { byTime, type Entry, NO_TIME, type TailPosition, TailState, type TimeRange } from '../entry.ts';
import type { LogSource } from '../read-range.ts';
import { CatchUpReader } from './catch-up.ts';
import { EntryRate, LiveWindow, MOST_PER_SECOND, type Poll, PollRate, SelfEventFilter } from './poll.ts';

/** How to follow. Durations in milliseconds. */
export interface TailOptions {
  readonly begin: TailPosition;
  /** How late an entry may arrive. */
  readonly overlapMs: number;
  /** How long the service keeps entries. */
  readonly retentionMs: number;
  /** Always this pause between two polls; by default 1 s to 15 s. */
  readonly intervalMs?: number | undefined;
  /** A log with more new entries a second is read once, after the overlap; by default what can be read twice. */
  readonly mostPerSecond?: number | undefined;
  /** End after this time. */
  readonly forMs?: number | undefined;
  /** End when nothing new came for this long. */
  readonly idleMs?: number | undefined;
  /** End as soon as the present is reached; an outage ends it too, with its error. */
  readonly untilPresent?: boolean | undefined;
  /**
   * Whether reads that this tail caused itself are counted for `onEvent`, or hidden too: at most one for each request,
   * and none from before it began. By default neither.
   */
  readonly ownReads?: 'report' | 'hide' | undefined;
  /** How many requests were made before the tail began; by default one. */
  readonly requestsBefore?: number | undefined;
  /** End after this many entries. */
  readonly limit?: number | undefined;
  /** At most this many entries in a batch; by default all that a poll found. */
  readonly batchSize?: number | undefined;
  /** Which entries are passed on; the others are only counted. */
  readonly keep?: ((log: Log) => boolean) | undefined;
  /**
   * Called before an entry is passed on, with its id: equal entries have ids of their own, and an entry that comes again
   * after a restart has the same one.
   */
  readonly onPass?: ((log: Log, id: string) => void) | undefined;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  /** Called with a position once the reader has taken all entries up to it. */
  readonly onPosition?: ((position: TailPosition) => void) | undefined;
}

/** What a tail reports beside the entries. */
export type TailEvent =
  /** A poll failed; reported once for each outage. */
  | { readonly kind: 'disconnected'; readonly reason: string; readonly nextMs: number }
  /** The first poll since an outage that reached the present. */
  | { readonly kind: 'caught up'; readonly afterMs: number; readonly entries: number }
  /** A poll of the present, and the pause before the next one. */
  | { readonly kind: 'polled'; readonly nextMs: number }
  /** A range of the past was read. `readTo` and `now` by the service's clock. */
  | { readonly kind: 'catching up'; readonly readTo: number; readonly now: number }
  /** So many entries of a poll, of all that would be passed on, were reads by the tail itself. */
  | { readonly kind: 'own reads'; readonly count: number; readonly entries: number }
  /** The log became too busy to be read twice, and is read once, after the overlap; or no longer. */
  | { readonly kind: 'delayed'; readonly isDelayed: boolean; readonly overlapMs: number }
  /** The service may no longer have had the entries of this range. */
  | ({ readonly kind: 'gap' } & TimeRange);

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response', 'truncated'] as const;
const POSITION_EVERY_MS = 30_000;
/** Times of entries and of responses may be whole seconds. */
const OWN_LEEWAY_MS = 2_000;
/** So many polls in a row whose pages could not all be read: then a second holds more than a cursor lives for. */
const MAX_INCOMPLETE = 10;

/**
 * Follows a log: nothing is lost or duplicated as long as no entry is later than the overlap. Gives entries in batches,
 * each in order of time. A batch counts as taken when the next one is requested: only then is the position reported.
 * Outages do not end it; a refused key does, and so do pages that can never all be read.
 */
export class Tail {
  readonly #source: LogSource;
  readonly #options: TailOptions;
  readonly #state: TailState;
  readonly #catchUp: CatchUpReader;
  readonly #live: LiveWindow;
  readonly #rate: PollRate;
  readonly #entryRate: EntryRate;
  readonly #startedAt: number;
  /** The same by the service's clock. */
  readonly #begunAt: number;
  readonly #selfEvents: SelfEventFilter;
  #lastNewsAt: number;
  #reportedAt = -Infinity;
  /** Since when, and how many requests and entries it took: what was read, and then settled. */
  #polled = { at: 0, requests: 0, shown: 0 };
  #counted = 0;
  #shown = 0;
  /** Those of them that this tail did not cause itself. */
  #news = 0;
  #failures = 0;
  /** Those of them that broke off between two pages. */
  #incomplete = 0;
  /** Since when it was disconnected or behind, and how many entries had been shown by then. */
  #behind: { at: number; shown: number } | undefined;
  #hasRead = false;

  constructor(source: LogSource, options: TailOptions) {
    this.#source = source;
    this.#options = options;
    this.#state = new TailState(options.begin);
    const { overlapMs, retentionMs, mostPerSecond = MOST_PER_SECOND, untilPresent: isOnce = false } = options;
    const onGap = (gap: TimeRange): void => this.#report({ kind: 'gap', ...gap });
    this.#catchUp = new CatchUpReader(source, this.#state, { overlapMs, retentionMs, onGap });
    this.#live = new LiveWindow(source, this.#state, { overlapMs, mostPerSecond, isOnce });
    this.#rate = new PollRate(options.intervalMs);
    this.#entryRate = new EntryRate(mostPerSecond);
    this.#startedAt = source.clock.now();
    this.#lastNewsAt = this.#startedAt;
    this.#begunAt = source.now();
    this.#selfEvents = new SelfEventFilter(options.requestsBefore);
  }

  /** The position behind every entry given so far. */
  position(): TailPosition {
    return this.#state.position();
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
    const { settled, readTo: knownTo, newest } = this.#options.begin;
    // Only one that stays behind the overlap leaves such a position: what it read needs no second reading.
    if (newest !== undefined && settled === knownTo) this.#delay(true);
    while (this.#leftMs() > 0) {
      const { isBehind } = this.#catchUp;
      if (isBehind) this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
      const poll = await this.#poll(isBehind);
      if (poll === 'over') return;
      if (poll === 'failed') continue;
      const counted = this.#counted;
      const news = this.#news;
      const { readTo } = this.#state;
      const isWhole = yield* this.#pass(poll);
      this.#selfEvents.requested(poll.requests);
      this.#polled.requests += poll.requests;
      // The reader may take its time: only now the wait for news begins.
      if (this.#news > news) this.#lastNewsAt = this.#source.clock.now();
      this.#reportPosition(this.#counted > counted);
      if (!isWhole || this.#shown === this.#options.limit) return;
      this.#entryRate.add(this.#counted - counted, this.#state.readTo - readTo);
      const isBusy = this.#entryRate.isTooHigh(this.#catchUp.isDelayed);
      if (isBusy !== this.#catchUp.isDelayed && (isBusy || !isBehind)) this.#delay(isBusy);
      if (isBehind) this.#report({ kind: 'catching up', readTo: this.#state.readTo, now: this.#source.now() });
      else if (this.#live.isSettling && !this.#catchUp.isDelayed) continue;
      else if (this.#options.untilPresent === true) return;
      else await this.#rest();
    }
  }

  async #poll(isBehind: boolean): Promise<Poll | 'over' | 'failed'> {
    if (!this.#live.isSettling) this.#polled = { at: this.#source.clock.now(), requests: 0, shown: this.#shown };
    const work = isBehind || this.#catchUp.isDelayed ? this.#catchUp.poll() : this.#live.poll();
    try {
      const poll = await this.#whileTimeLasts(work);
      this.#hasRead = true;
      this.#failures = 0;
      this.#incomplete = 0;
      return poll;
    } catch (error) {
      this.#source.signal.throwIfAborted();
      if (!this.#isOutage(error)) throw error;
      if (isSvcError(error, 'truncated')) {
        this.#incomplete += 1;
        if (this.#incomplete >= MAX_INCOMPLETE) throw error;
      }
      await this.#waitOut(error.message);
      return 'failed';
    }
  }

  // At the start, a failure that waiting does not fix is a mistake in the settings and no outage.
  #isOutage(error: unknown): error is Error {
    if (!isSvcError(error, ...OUTAGE) || this.#options.untilPresent === true) return false;
    return this.#hasRead || error.retryable || error.code === 'truncated';
  }

  async #waitOut(reason: string): Promise<void> {
    this.#failures += 1;
    const nextMs = outageDelayMs(this.#failures);
    this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
    if (this.#failures === 1) this.#report({ kind: 'disconnected', reason, nextMs });
    await this.#sleep(nextMs);
  }

  /** Counts what is new and gives what of it is wanted. False when the limit left some of it over. */
  *#pass(poll: Poll): Generator<readonly Log[], boolean> {
    const { keep = () => true, limit = Infinity, batchSize = Infinity, onPass, ownReads } = this.#options;
    const { passed } = this.#state;
    let logs: Log[] = [];
    let isWhole = true;
    let own = 0;
    let kept = 0;
    for (const entry of passed.surplus(poll.entries.toSorted(byTime))) {
      if (logs.length >= batchSize) {
        yield logs;
        logs = [];
        this.#reportPosition(true);
      }
      isWhole = this.#shown < limit;
      if (!isWhole) break;
      passed.add(entry);
      this.#counted += 1;
      if (!keep(entry.log)) continue;
      kept += 1;
      const isNews = this.#isNews(entry);
      if (!isNews && this.#mayHide(entry)) {
        own += 1;
        if (ownReads === 'hide') continue;
      }
      onPass?.(entry.log, `${entry.key}-${passed.count(entry)}`);
      logs.push(entry.log);
      this.#shown += 1;
      if (isNews) this.#news += 1;
    }
    if (own > 0) this.#report({ kind: 'own reads', count: own, entries: kept });
    if (isWhole) this.#moveTo(poll);
    if (logs.length > 0) yield logs;
    return isWhole;
  }

  #isNews(entry: Entry): boolean {
    const isOfInterest = this.#options.idleMs !== undefined || this.#mayHide(entry);
    return !isOfInterest || this.#selfEvents.isNews(entry.log);
  }

  // What was logged before cannot be its own, however equal. A time that cannot be read may be any.
  #mayHide({ at }: Entry): boolean {
    return this.#options.ownReads !== undefined && at !== NO_TIME && at >= this.#begunAt - OWN_LEEWAY_MS;
  }

  // A reader that takes the last batch has taken all of the poll.
  #moveTo({ newest, readTo, settleTo }: Poll): void {
    this.#state.newest = newest;
    this.#state.readTo = readTo;
    this.#state.settle(settleTo);
  }

  /** The present is reached: reports it if it was not before, and waits until the next poll. */
  async #rest(): Promise<void> {
    if (this.#behind) {
      const { at, shown } = this.#behind;
      const afterMs = this.#source.clock.now() - at;
      this.#report({ kind: 'caught up', afterMs, entries: this.#shown - shown });
      this.#behind = undefined;
    }
    const { at: polledAt, requests, shown: before } = this.#polled;
    const tookMs = this.#source.clock.now() - polledAt;
    const { isDelayed, restMs } = this.#catchUp;
    const nextMs = isDelayed ? restMs : this.#rate.after(requests, this.#shown - before, tookMs, this.#source.now());
    this.#report({ kind: 'polled', nextMs });
    await this.#sleep(nextMs);
  }

  async #sleep(ms: number): Promise<void> {
    const { clock, signal } = this.#source;
    await clock.sleep(Math.min(ms, this.#leftMs()), signal);
  }

  /** Milliseconds until the given time is over, or until nothing came for as long as given. */
  #leftMs(): number {
    const { forMs = Infinity, idleMs = Infinity } = this.#options;
    const now = this.#source.clock.now();
    return Math.max(0, Math.min(this.#startedAt + forMs, this.#lastNewsAt + idleMs) - now);
  }

  // A poll can take long when responses are slow, but the requested end is kept.
  async #whileTimeLasts(work: Promise<Poll>): Promise<Poll | 'over'> {
    const { clock, signal } = this.#source;
    const left = this.#startedAt + (this.#options.forMs ?? Infinity) - clock.now();
    return left === Infinity ? work : within(work, left, { clock, signal });
  }

  // Without news only `readTo` has changed, and half a minute of that is soon read again.
  #reportPosition(hasNews: boolean): void {
    const now = this.#source.clock.now();
    if (!hasNews && now - this.#reportedAt < POSITION_EVERY_MS) return;
    this.#reportedAt = now;
    this.#options.onPosition?.(this.position());
  }

  // A tail that ends at the present has to reach it.
  #delay(isDelayed: boolean): void {
    if (this.#options.untilPresent === true) return;
    this.#catchUp.delay(isDelayed);
    this.#report({ kind: 'delayed', isDelayed, overlapMs: this.#options.overlapMs });
  }

  #report(event: TailEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** The pause after so many failed polls in a row. */
export function outageDelayMs(failures: number): number {
  return Math.min(30_000, 1_000 * 2 ** (failures - 1));
}

/** The result of work, unless it takes longer. Work that does is left to itself. */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<T | 'over'> {
  const done = new AbortController();
  const over = clock.sleep(ms, AbortSignal.any([done.signal, ...(signal ? [signal] : [])]));
  try {
    return await Promise.race([work, over.then(() => 'over' as const)]);
  } finally {
    done.abort();
    // The race was decided without them.
    over.catch(() => undefined);
    work.catch(() => undefined);
  }
}
