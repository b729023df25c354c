// Follows a log without losing or repeating an entry.

import { isSvcError } from '../../base/errors.ts';
import { within } from '../../base/within.ts';
import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { byTime, type TailPosition, TailState, type TimeRange } from '../entry.ts';
import type { LogSource } from '../read-range.ts';
import { CatchUpReader } from './catch-up.ts';
import { GapWatch } from './gap-watch.ts';
import { EntryRate, LiveWindow, MAX_PER_SECOND, type Poll, PollRate, SelfEventFilter } from './poll.ts';
import { BELIEVED_JUMP_MS, checkPosition, SteadySource } from './steady-source.ts';

/** The options of a tail. Durations are in milliseconds. */
export interface TailOptions {
  readonly begin: TailPosition;
  /** How late an entry may arrive. */
  readonly overlapMs: number;
  /** How long the service keeps entries. */
  readonly retentionMs: number;
  /** A fixed pause between two polls. Default: 1 s to 15 s. */
  readonly intervalMs?: number | undefined;
  /** The entries per second above which the log is read only once, after the overlap. Default: the rate that can be read twice. */
  readonly mostPerSecond?: number | undefined;
  /** The time after which the tail ends. */
  readonly forMs?: number | undefined;
  /** The time without new entries, at the present, after which the tail ends. */
  readonly idleMs?: number | undefined;
  /** Whether the tail ends when it reaches the present. An outage then ends it with an error. */
  readonly untilPresent?: boolean | undefined;
  /** The number of requests before the tail began. Default: one. */
  readonly requestsBefore?: number | undefined;
  /** The number of entries after which the tail ends. */
  readonly limit?: number | undefined;
  /** The most entries in a batch. Default: all entries of a poll. */
  readonly batchSize?: number | undefined;
  /** Selects the entries to pass on. The others are only counted. */
  readonly keep?: ((log: Log) => boolean) | undefined;
  /**
   * Called with an entry and its id before it is passed on. Equal entries have different ids, and an entry that is repeated
   * after a restart has the same id.
   */
  readonly onPass?: ((log: Log, id: string) => void) | undefined;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  /** Called with a position once the reader has processed all entries up to it. */
  readonly onPosition?: ((position: TailPosition) => void) | undefined;
}

/** An event that a tail reports in addition to entries. */
export type TailEvent =
  /** A poll failed; reported once for each outage. */
  | { readonly kind: 'disconnected'; readonly reason: string; readonly nextMs: number }
  /** The first poll after an outage has reached the present. */
  | { readonly kind: 'caught up'; readonly afterMs: number; readonly entries: number }
  /** The present was polled, and the next poll follows after `nextMs`. `unprovenMs` is that of the tail. */
  | { readonly kind: 'polled'; readonly nextMs: number; readonly unprovenMs: number }
  /** A range of the past was read. `readTo` and `now` are by the service's clock. */
  | { readonly kind: 'catching up'; readonly readTo: number; readonly now: number }
  /** The log became too busy to be read twice and is now read once, after the overlap; or it no longer is. */
  | { readonly kind: 'delayed'; readonly isDelayed: boolean; readonly overlapMs: number }
  /** The service may have deleted entries of this range before they were read. */
  | ({ readonly kind: 'gap' } & TimeRange);

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response', 'truncated'] as const;
const POSITION_EVERY_MS = 30_000;
/** The number of incomplete polls in a row after which some second has more pages than a cursor lives for. */
const MAX_INCOMPLETE = 10;

/**
 * Follows a log without loss or duplicates, as long as no entry is later than the overlap. Yields batches of entries, each
 * in order of time. A batch counts as processed when the next one is requested, and only then is its position reported.
 * Outages do not end it. A refused key does, and so do pages that can never be read completely.
 */
export class Tail {
  readonly #source: SteadySource;
  readonly #options: TailOptions;
  readonly #state: TailState;
  readonly #catchUp: CatchUpReader;
  readonly #live: LiveWindow;
  readonly #gaps: GapWatch;
  readonly #rate: PollRate;
  readonly #entryRate: EntryRate;
  readonly #startedAt: number;
  readonly #selfEvents: SelfEventFilter;
  /** The time of the last news, or when the tail first caught up. */
  #busyAt: number;
  #hasCaughtUp = false;
  #reportedAt = -Infinity;
  /** The start of the current poll, including its settling, with its requests and the entries shown before it. */
  #polled = { at: 0, requests: 0, shown: 0 };
  #counted = 0;
  #shown = 0;
  /** The number of shown entries that are not about reads of this tail. */
  #news = 0;
  #failures = 0;
  /** The number of failures in a row that broke off between two pages. */
  #incomplete = 0;
  /** The start of an outage or lag, and the number of entries shown before it. */
  #behind: { at: number; shown: number } | undefined;
  /** The start of the current read of the log, and of the last one that succeeded, by this machine's clock. */
  #readingAt = 0;
  #readAt: number | undefined;

  constructor(source: LogSource, options: TailOptions) {
    this.#source = new SteadySource(source);
    this.#options = options;
    this.#state = new TailState(options.begin);
    const { overlapMs, retentionMs, mostPerSecond = MAX_PER_SECOND, untilPresent: isOnce = false } = options;
    const onGap = (gap: TimeRange): void => this.#report({ kind: 'gap', ...gap });
    this.#catchUp = new CatchUpReader(this.#source, this.#state, overlapMs);
    this.#live = new LiveWindow(this.#source, this.#state, { overlapMs, mostPerSecond, isOnce });
    this.#gaps = new GapWatch(this.#source, this.#state, { retentionMs, onGap });
    this.#rate = new PollRate(options.intervalMs);
    this.#entryRate = new EntryRate(mostPerSecond);
    this.#startedAt = source.clock.now();
    this.#busyAt = this.#startedAt;
    this.#selfEvents = new SelfEventFilter(options.requestsBefore);
  }

  /**
   * Returns the position after all entries yielded so far. Where nothing but `Date` headers says how late it is, they may be
   * false, and the log counts as read up to the time of this machine only.
   */
  position(): TailPosition {
    const { newest = -Infinity } = this.#state;
    const machineTime = wholeSecond(this.#source.clock.now()) + BELIEVED_JUMP_MS;
    const latest = Math.max(this.#options.begin.readTo, wholeSecond(newest) + SECOND_MS, machineTime);
    return this.#state.position(latest);
  }

  /** How far the log was read beyond the position, because only `Date` headers show that it is so late; 0 if hardly. */
  get unprovenMs(): number {
    const ms = this.#state.readTo - this.position().readTo;
    return ms > this.#options.overlapMs + MINUTE_MS ? ms : 0;
  }

  /** Whether any of the log was read. */
  get hasRead(): boolean {
    return this.#readAt !== undefined;
  }

  /** The service's time, and whether it is confirmed. */
  get time(): Pick<SteadySource, 'now' | 'isConfirmed'> {
    return this.#source;
  }

  /** Yields the entries until the tail ends. @throws SvcError the failure, or the reason of the signal */
  async *batches(): AsyncGenerator<readonly Log[]> {
    try {
      yield* this.#batches();
    } finally {
      this.#catchUp.stop();
    }
  }

  async *#batches(): AsyncGenerator<readonly Log[]> {
    const { settled, readTo: knownTo, newest } = this.#options.begin;
    // Only a tail in delayed mode leaves a position with all settled, so this one continues in that mode. After the last
    // entries all may be settled too, up to the newest of them.
    if (newest !== undefined && newest < settled && settled === knownTo) this.#delay(true);
    while (this.#leftMs() > 0) {
      const check = await this.#attempt(this.#checkClock());
      if (check === 'over') return;
      if (check === 'failed') continue;
      const { isBehind } = this.#catchUp;
      if (isBehind) this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
      const poll = await this.#attempt(this.#poll(isBehind));
      if (poll === 'over') return;
      if (poll === 'failed') continue;
      this.#noteRead();
      const counted = this.#counted;
      const news = this.#news;
      const { readTo } = this.#state;
      const isWhole = yield* this.#pass(poll);
      this.#selfEvents.requested(poll.requests);
      this.#polled.requests += poll.requests;
      // The idle time starts only at the present, after the reader has processed the batch.
      if (!this.#hasCaughtUp || this.#news > news) this.#busyAt = this.#source.clock.now();
      this.#hasCaughtUp ||= !this.#catchUp.isFarBehind;
      this.#reportPosition(isBehind || this.#counted > counted);
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

  async #poll(isBehind: boolean): Promise<Poll> {
    const now = this.#source.clock.now();
    if (!this.#live.isSettling) this.#polled = { at: now, requests: 0, shown: this.#shown };
    this.#readingAt = now;
    const { knownTo, isDelayed } = this.#catchUp;
    const poll = await (isBehind || isDelayed ? this.#catchUp.poll() : this.#live.poll());
    this.#gaps.check(poll, knownTo);
    return poll;
  }

  async #checkClock(): Promise<void> {
    const { overlapMs } = this.#options;
    const sinceReadMs = this.#readAt === undefined ? undefined : this.#source.clock.now() - this.#readAt;
    this.#selfEvents.requested(await this.#source.follow(this.#state.settled));
    this.#selfEvents.requested(await checkPosition(this.#source, this.#state, { overlapMs, sinceReadMs }));
  }

  #noteRead(): void {
    this.#readAt = this.#readingAt;
    this.#failures = 0;
    this.#incomplete = 0;
  }

  /** Awaits work on the service. An outage is waited out. */
  async #attempt<T>(work: Promise<T>): Promise<T | 'over' | 'failed'> {
    try {
      return await this.#whileTimeLasts(work);
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

  // A first request that fails permanently shows wrong settings, not an outage.
  #isOutage(error: unknown): error is Error {
    if (!isSvcError(error, ...OUTAGE) || this.#options.untilPresent === true) return false;
    return this.#readAt !== undefined || error.retryable || error.code === 'truncated';
  }

  async #waitOut(reason: string): Promise<void> {
    this.#failures += 1;
    const nextMs = outageDelayMs(this.#failures);
    this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
    if (this.#failures === 1) this.#report({ kind: 'disconnected', reason, nextMs });
    await this.#sleep(nextMs);
  }

  /** Counts new entries and yields the matching ones. Returns false if the limit left some of them over. */
  *#pass(poll: Poll): Generator<readonly Log[], boolean> {
    const { keep = () => true, limit = Infinity, batchSize = Infinity, onPass, idleMs } = this.#options;
    const { passed } = this.#state;
    let logs: Log[] = [];
    let isWhole = true;
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
      onPass?.(entry.log, `${entry.key}-${passed.count(entry)}`);
      logs.push(entry.log);
      this.#shown += 1;
      if (idleMs === undefined || this.#selfEvents.isNews(entry.log)) this.#news += 1;
    }
    if (isWhole) this.#moveTo(poll);
    if (logs.length > 0) yield logs;
    return isWhole;
  }

  // The state moves before the last batch is yielded: a reader who processed that has processed the whole poll.
  #moveTo({ newest, readTo, settleTo }: Poll): void {
    this.#state.newest = newest;
    this.#state.readTo = readTo;
    this.#state.settle(settleTo);
  }

  /** Reports that the present is reached, if it was not before, and waits until the next poll. */
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
    this.#report({ kind: 'polled', nextMs, unprovenMs: this.unprovenMs });
    await this.#sleep(nextMs);
  }

  async #sleep(ms: number): Promise<void> {
    const { clock, signal } = this.#source;
    await clock.sleep(Math.min(ms, this.#leftMs()), signal);
  }

  /** The milliseconds until the tail's time or its idle time is over. */
  #leftMs(): number {
    const { forMs = Infinity, idleMs = Infinity } = this.#options;
    const now = this.#source.clock.now();
    return Math.max(0, Math.min(this.#startedAt + forMs, this.#busyAt + idleMs) - now);
  }

  // Ends a slow poll at the requested end of the tail.
  async #whileTimeLasts<T>(work: Promise<T>): Promise<T | 'over'> {
    const { clock, signal } = this.#source;
    const left = this.#startedAt + (this.#options.forMs ?? Infinity) - clock.now();
    return left === Infinity ? work : within(work, left, { clock, signal });
  }

  // At the present without new entries only `readTo` has moved a little, which is reported every half a minute.
  #reportPosition(hasNews: boolean): void {
    const now = this.#source.clock.now();
    if (!hasNews && now - this.#reportedAt < POSITION_EVERY_MS) return;
    this.#reportedAt = now;
    this.#options.onPosition?.(this.position());
  }

  // A tail until the present must reach the present, so it is never delayed.
  #delay(isDelayed: boolean): void {
    if (this.#options.untilPresent === true) return;
    this.#catchUp.delay(isDelayed);
    this.#report({ kind: 'delayed', isDelayed, overlapMs: this.#options.overlapMs });
  }

  #report(event: TailEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** Returns the pause after a number of failed polls in a row. */
export function outageDelayMs(failures: number): number {
  return Math.min(30_000, 1_000 * 2 ** (failures - 1));
}
