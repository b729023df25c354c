import { isSvcError } from '../errors.ts';
import type { Log } from '../schema/log.ts';
import { CatchUp } from './catch-up.ts';
import { Echo } from './echo.ts';
import type { Entry } from './entry.ts';
import type { Look } from './look.ts';
import type { TailEvent, TailOptions } from './options.ts';
import { Pace, pauseAfterFailure } from './pace.ts';
import { Present } from './present.ts';
import type { LogSource } from './source.ts';
import { type Standing, TailState } from './state.ts';

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_answer', 'incomplete'] as const;
const STANDING_EVERY_MS = 30_000;
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
  readonly #catchUp: CatchUp;
  readonly #present: Present;
  readonly #pace: Pace;
  readonly #startedAt: number;
  readonly #echo = new Echo();
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
    this.#catchUp = new CatchUp(source, this.#state, {
      overlapMs,
      retentionMs,
      onEvent: (event) => this.#tell(event),
    });
    this.#present = new Present(source, this.#state, overlapMs, options.untilPresent === true);
    this.#pace = new Pace(options.intervalMs);
    this.#startedAt = this.#lastNewsAt = source.clock.now();
  }

  /** Where it stands: every entry given so far is behind it. */
  standing(): Standing {
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

  async #look(isBehind: boolean): Promise<Look | 'over' | 'failed'> {
    const work = isBehind ? this.#catchUp.look() : this.#present.look();
    try {
      const look = await this.#whileTimeLasts(work);
      this.#hasRead = true;
      this.#failures = this.#incomplete = 0;
      return look;
    } catch (error) {
      this.#source.signal.throwIfAborted();
      if (!this.#isOutage(error)) throw error;
      if (isSvcError(error, 'incomplete') && (this.#incomplete += 1) >= MOST_INCOMPLETE) throw error;
      await this.#waitOut(error.message);
      return 'failed';
    }
  }

  // At the start, what no waiting mends is a mistake in the settings and no outage.
  #isOutage(error: unknown): error is Error {
    if (!isSvcError(error, ...OUTAGE) || this.#options.untilPresent === true) return false;
    return this.#hasRead || error.retryable || error.code === 'incomplete';
  }

  async #waitOut(reason: string): Promise<void> {
    this.#failures += 1;
    const nextMs = pauseAfterFailure(this.#failures);
    this.#behind ??= { at: this.#source.clock.now(), shown: this.#shown };
    if (this.#failures === 1) this.#tell({ kind: 'cut off', reason, nextMs });
    await this.#sleep(nextMs);
  }

  /** Counts what is new and gives what of it is to be shown. Not whole when there was no room for all. */
  *#pass(look: Look): Generator<readonly Log[], boolean> {
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
  #reach({ newest, readTo, settleTo }: Look): void {
    this.#state.newest = newest;
    this.#state.readTo = readTo;
    this.#state.settle(settleTo);
  }

  /** The present is reached: says so if it was not before, and waits until the next look. */
  async #rest({ requests }: Look, entries: number): Promise<void> {
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
  async #whileTimeLasts(work: Promise<Look>): Promise<Look | 'over'> {
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
    if (!hasNews && now - this.#toldAt < STANDING_EVERY_MS) return;
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
