import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { type Entry, NO_TIME, type TailState, type TimeRange } from '../entry.ts';
import { type Found, type LogSource, readSettled, TooManyPages } from '../read-range.ts';
import { type Poll, pollBackfill } from './poll.ts';

export interface CatchUpOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  /** Called with a range whose entries the service may no longer have had. */
  readonly onGap: (gap: TimeRange) => void;
}

/** How long the ranges are of a log that is followed behind the overlap: so many entries a second leave half a page. */
const DELAYED_MS = 5 * SECOND_MS;

/**
 * Reads from the position to the present, and notices gaps that retention has made. Delayed, it stays as far behind the
 * present as an entry may be late, so that what it read needs no second reading.
 */
export class CatchUpReader {
  /** Whether it was told to stay behind, as the log is too busy to be read twice. */
  isDelayed = false;
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #options: CatchUpOptions;
  #backfill: Backfill | undefined;
  #reached: number | undefined;
  #gapFrom: number | undefined;
  #keepsLonger = false;

  constructor(source: LogSource, state: TailState, options: CatchUpOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether the present is so far away that the log is read in parts. */
  get isBehind(): boolean {
    const { overlapMs } = this.#options;
    const near = overlapMs + Math.max(overlapMs / 2, 60_000);
    const isBehind = this.#backfill?.isReading || this.#source.now() - (this.#reached ?? this.#state.readTo) > near;
    if (!isBehind && !this.isDelayed) this.#dropBackfill();
    return isBehind;
  }

  /** Delays the reading, or ends that. What was read ahead is read again. */
  delay(isDelayed: boolean): void {
    this.isDelayed = isDelayed;
    this.stop();
    this.#dropBackfill();
  }

  #dropBackfill(): void {
    this.#backfill = undefined;
    this.#reached = undefined;
  }

  /** Milliseconds until there is enough to read for one that is delayed. */
  get restMs(): number {
    if (this.#backfill?.isReading) return 0;
    return Math.max(0, this.#state.settled + DELAYED_MS - this.#end);
  }

  /** All entries from before this time are there. The service's time is known to the second. */
  get #end(): number {
    const leewayMs = this.isDelayed ? LEEWAY_MS : 0;
    return wholeSecond(this.#source.now() - this.#options.overlapMs - leewayMs);
  }

  // Of a busy log each request counts: ranges are wide, so that few pages are not full.
  get #shape(): Shape {
    if (!this.isDelayed) return USUAL_SHAPE;
    return { concurrency: 3, wanted: 1_500, widthMs: DELAYED_MS, keptMs: this.#options.overlapMs + MINUTE_MS };
  }

  /** Reads the next part. Not to be called again before all that it found was passed on. */
  async poll(): Promise<Poll> {
    const { overlapMs } = this.#options;
    const { settled, readTo, newest } = this.#state;
    if (this.isDelayed && !this.#backfill?.isReading && this.#end <= settled)
      return { entries: [], requests: 0, readTo, settleTo: settled, newest };
    this.#backfill ??= new Backfill(this.#source, settled, this.#shape);
    const part = await this.#backfill.next(this.#end);
    const poll = pollBackfill(this.#source, this.#state, part, overlapMs);
    this.#noticeGap(poll, part.to);
    this.#reached = Math.min(part.to, poll.readTo);
    // The first response may have shown that this machine's clock is ahead: then that was not yet the past.
    if (part.to > this.#source.now() - overlapMs) this.#backfill = undefined;
    // Until it is known how far a gap goes, a tail that restarts here must meet it again.
    if (this.#gapFrom !== undefined) return { ...poll, readTo, settleTo: settled };
    return this.isDelayed ? { ...poll, settleTo: Math.min(part.to, this.#end) } : poll;
  }

  stop(): void {
    this.#backfill?.stop();
  }

  // The service forgets the oldest first: what it still has proves that it has all that came after.
  #noticeGap({ entries }: Poll, readTo: number): void {
    const { overlapMs, retentionMs, onGap } = this.#options;
    const edge = this.#source.now() - retentionMs;
    const known = this.#reached ?? Math.max(this.#state.settled, this.#state.readTo - overlapMs);
    if (this.#keepsLonger || (this.#gapFrom ?? known) >= edge) return;
    this.#gapFrom ??= known;
    const oldest = Math.min(...entries.map(({ at }) => at), NO_TIME);
    if (oldest === NO_TIME && readTo < edge) return;
    const gap = { from: this.#gapFrom, to: Math.min(oldest, edge) };
    this.#keepsLonger = oldest < edge;
    this.#gapFrom = undefined;
    if (gap.to > gap.from) onGap(gap);
  }
}

/** A range that is being read, was read, or failed until it is requested again. */
interface Slot extends TimeRange {
  reading: Promise<Found> | undefined;
  failure: unknown;
}

const MINUTE_MS = 60_000;
const WIDEST_MS = 6 * 60 * MINUTE_MS;
/** A range is given up where it has a page more for each of so many entries that were wanted. */
const WANTED_PER_PAGE = 35;
const GROWTH = 8;
const PARTS = 4;
/** The service's time is known to the second. */
const LEEWAY_MS = 2 * SECOND_MS;

/** How a past is divided. Ranges read at once and their pages bound what is held: some 4,500 entries. */
interface Shape {
  readonly concurrency: number;
  /** Entries that a range should hold, so that its last page is nearly full. */
  readonly wanted: number;
  readonly widthMs: number;
  /** The age of the oldest entry that the service still had: retention does not cut into what is younger. */
  readonly keptMs: number;
}

/** So many ranges at once leave no pause where the service answers at once. */
const FEWEST_AT_ONCE = 2;
const USUAL_SHAPE: Shape = { concurrency: 16, wanted: 280, widthMs: MINUTE_MS, keptMs: 0 };

/**
 * Reads several ranges of the past at once and gives them in order of time. A key has 200 requests a minute: so each is a
 * few pages wide, by what the last ones held.
 */
export class Backfill {
  readonly #source: LogSource;
  readonly #stop = new AbortController();
  readonly #shape: Shape;
  #slots: Slot[] = [];
  #plannedTo: number;
  #widthMs: number;
  #keptMs: number;
  /** More than a busy process can take would only fill memory. */
  #atOnce: number;

  constructor(source: LogSource, from: number, shape: Shape = USUAL_SHAPE) {
    this.#source = source;
    this.#atOnce = shape.concurrency;
    this.#shape = shape;
    this.#plannedTo = from;
    this.#widthMs = shape.widthMs;
    this.#keptMs = shape.keptMs;
  }

  get isReading(): boolean {
    return this.#slots.length > 0;
  }

  /**
   * The next range, with nothing from `end` on unless that was planned before. Called again after a failure, it tries
   * again what failed. @throws SvcError
   */
  async next(end: number): Promise<TimeRange & Found> {
    this.#retry();
    const step = this.#source.clock.isBusy?.() === true ? -1 : 1;
    this.#atOnce = Math.min(Math.max(this.#atOnce + step, FEWEST_AT_ONCE), this.#shape.concurrency);
    for (;;) {
      this.#readAhead(end);
      const slot = this.#slots[0];
      if (slot?.reading === undefined) throw slot?.failure ?? new RangeError('nothing of the past is left');
      const found = await slot.reading.catch(() => undefined);
      if (found === undefined) {
        if (!(slot.failure instanceof TooManyPages)) throw slot.failure;
        this.#retry();
        continue;
      }
      this.#slots.shift();
      this.#readAhead(end);
      return { from: slot.from, to: slot.to, ...found };
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Plans and starts as many reads as allowed: one until it is known how long the service keeps entries. */
  #readAhead(end: number): void {
    while (this.#slots.length < this.#concurrency && this.#plannedTo < end) {
      const from = this.#plannedTo;
      const width = Math.max(SECOND_MS, this.#widthMs);
      // What would be left is no range of its own: its last page would hardly be full.
      const to = end - from < 1.5 * width ? end : from + width;
      this.#slots.push(newSlot(from, to));
      this.#plannedTo = to;
    }
    let busy = this.#slots.filter(({ reading }) => reading !== undefined).length;
    for (const [index, slot] of this.#slots.entries()) {
      if (slot.reading !== undefined || slot.failure !== undefined) continue;
      // The reader waits for the first one, also where smaller ones replaced it.
      if (index > 0 && busy >= this.#concurrency) return;
      this.#begin(slot);
      busy += 1;
    }
  }

  get #concurrency(): number {
    return this.#keptMs > 0 ? this.#atOnce : 1;
  }

  #begin(slot: Slot): void {
    const startedAt = this.#source.now();
    const isStable = (): boolean => this.#source.now() - slot.from < this.#keptMs - LEEWAY_MS;
    // Where entries may vanish between two pages, a range has to be one page, which is of one moment.
    const usualPages = isStable() ? this.#shape.wanted / WANTED_PER_PAGE : 1;
    const maxPages = slot.to - slot.from <= SECOND_MS ? Infinity : usualPages;
    slot.reading = readSettled(this.#source, slot, { maxPages, isStable, stop: this.#stop.signal });
    slot.reading.then(
      ({ entries }) => this.#learn(slot, entries, startedAt),
      (error: unknown) => {
        slot.failure = error;
      },
    );
  }

  /** Learns how wide ranges should be, and how long the service keeps entries. */
  #learn({ from, to }: TimeRange, entries: readonly Entry[], startedAt: number): void {
    const width = to - from;
    const wanted = entries.length === 0 ? Infinity : (width * this.#shape.wanted) / entries.length;
    this.#widthMs = Math.max(SECOND_MS, wholeSecond(Math.min(wanted, width * GROWTH, WIDEST_MS)));
    for (const { at } of entries) this.#keptMs = Math.max(this.#keptMs, startedAt - at);
  }

  /** Prepares what failed for another try, and splits what held too much. */
  #retry(): void {
    this.#slots = this.#slots.flatMap((slot) => {
      if (slot.failure === undefined) return [slot];
      if (slot.failure instanceof TooManyPages) return this.#partsOf(slot);
      return [newSlot(slot.from, slot.to)];
    });
  }

  #partsOf({ from, to }: TimeRange): Slot[] {
    const width = Math.max(SECOND_MS, wholeSecond((to - from) / PARTS));
    this.#widthMs = Math.min(this.#widthMs, width);
    const parts: Slot[] = [];
    for (let begin = from; begin < to; begin += width) parts.push(newSlot(begin, Math.min(to, begin + width)));
    return parts;
  }
}

function newSlot(from: number, to: number): Slot {
  return { from, to, reading: undefined, failure: undefined };
}
