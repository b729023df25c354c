// Reads a range of the past in many short ranges at once.

import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import { type Entry, NO_TIME, oldestOf, type TimeRange } from '../entry.ts';
import { type Found, type LogSource, readSettled, TooManyPages } from '../read-range.ts';

/** A range of a backfill: being read, completely read, or failed until it is tried again. */
interface RangeRead {
  readonly from: number;
  to: number;
  reading: Promise<Found> | undefined;
  failure: unknown;
}

/** The targeted entries for each page allowed. A range with more pages is split. */
const WANTED_PER_PAGE = 35;
const GROWTH = 8;
const PARTS = 4;
/** The service's time is known to the second. */
export const LEEWAY_MS = 2 * SECOND_MS;

/** How a backfill divides the past. The limits keep at most about 4,500 entries in memory. */
export interface BackfillShape {
  readonly concurrency: number;
  /** The targeted entries in a range, so that its last page is nearly full. */
  readonly wanted: number;
  readonly widthMs: number;
  /** The age of the oldest entry read. Retention does not delete anything younger. */
  readonly keptMs: number;
}

/** The fewest ranges read at once. Even with a fast service, they leave no pause. */
const MIN_AT_ONCE = 2;
export const USUAL_SHAPE: BackfillShape = { concurrency: 16, wanted: 280, widthMs: MINUTE_MS, keptMs: 0 };

/**
 * Reads several ranges of the past at once and returns them in order of time. A key has only 200 requests a minute, so
 * each range is a few pages wide, estimated from the previous ones.
 */
export class Backfill {
  readonly #source: LogSource;
  readonly #stop = new AbortController();
  readonly #shape: BackfillShape;
  #reads: RangeRead[] = [];
  #plannedTo: number;
  #widthMs: number;
  #keptMs: number;
  /** The ranges read at once. A busy process reads fewer, which would only fill its memory. */
  #atOnce: number;
  /** Whether the service ignores ranges, so that all of the past is read as one. */
  #isSifted = false;

  constructor(source: LogSource, from: number, shape: BackfillShape = USUAL_SHAPE) {
    this.#source = source;
    this.#atOnce = shape.concurrency;
    this.#shape = shape;
    this.#plannedTo = from;
    this.#widthMs = shape.widthMs;
    this.#keptMs = shape.keptMs;
  }

  get isReading(): boolean {
    return this.#reads.length > 0;
  }

  get plannedTo(): number {
    return this.#plannedTo;
  }

  /**
   * Returns the next range, which ends at `end` at the latest, unless it was planned before. A call after a failure tries
   * the failed range again. @throws SvcError
   */
  async next(end: number): Promise<TimeRange & Found> {
    this.#replaceFailed();
    const step = this.#source.clock.isBusy?.() === true ? -1 : 1;
    this.#atOnce = Math.min(Math.max(this.#atOnce + step, MIN_AT_ONCE), this.#shape.concurrency);
    for (;;) {
      this.#readAhead(end);
      const read = this.#reads[0];
      if (read?.reading === undefined) throw read?.failure ?? new RangeError('nothing of the past is left');
      const result = await read.reading.catch(() => undefined);
      if (result === undefined) {
        if (!(read.failure instanceof TooManyPages)) throw read.failure;
        if (read.failure.isSifted) this.#readAsOne(read, end);
        else this.#replaceFailed();
        continue;
      }
      this.#reads.shift();
      this.#readAhead(end);
      return { from: read.from, to: read.to, ...result };
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Replaces the reads by one of the whole rest. */
  #readAsOne({ from }: RangeRead, end: number): void {
    this.#isSifted = true;
    this.#plannedTo = Math.max(end, this.#plannedTo);
    this.#reads = [newRead(from, this.#plannedTo)];
  }

  /** Starts as many reads as allowed: one until the service's retention is known. */
  #readAhead(end: number): void {
    while (this.#reads.length < this.#concurrency && this.#plannedTo < end) {
      const to = this.#endOf(this.#plannedTo, end);
      this.#reads.push(newRead(this.#plannedTo, to));
      this.#plannedTo = to;
    }
    let busy = this.#reads.filter(({ reading }) => reading !== undefined).length;
    for (const [index, read] of this.#reads.entries()) {
      if (read.reading !== undefined) continue;
      // The first range is always read, even when it was split, because the caller waits for it.
      if (index > 0 && busy >= this.#concurrency) return;
      // Ranges read since this one was planned may show that it has too many entries.
      const to = this.#endOf(read.from, read.to);
      if (to < read.to) this.#reads.splice(index + 1, 0, newRead(to, read.to));
      read.to = to;
      this.#begin(read);
      busy += 1;
    }
  }

  /** Returns where the next range begins. A short rest joins this one, because its page would be nearly empty. */
  #endOf(from: number, to: number): number {
    return this.#isSifted || to - from < 1.5 * this.#widthMs ? to : from + this.#widthMs;
  }

  get #concurrency(): number {
    return this.#keptMs > 0 ? this.#atOnce : 1;
  }

  #begin(read: RangeRead): void {
    const startedAt = this.#source.now();
    const isStable = (): boolean => this.#isSifted || this.#source.now() - read.from < this.#keptMs - LEEWAY_MS;
    // If entries may be deleted between two pages, a range must be one page, which shows one moment.
    const usualPages = isStable() ? this.#shape.wanted / WANTED_PER_PAGE : 1;
    const maxPages = this.#isSifted || read.to - read.from <= SECOND_MS ? Infinity : usualPages;
    read.reading = readSettled(this.#source, read, { maxPages, isStable, stop: this.#stop.signal });
    read.reading.then(
      ({ entries }) => this.#learn(read, entries, startedAt),
      (error: unknown) => {
        read.failure = error;
      },
    );
  }

  /** Updates the width of ranges and the known retention of the service. */
  #learn({ from, to }: TimeRange, entries: readonly Entry[], startedAt: number): void {
    const oldest = oldestOf(entries);
    this.#keptMs = Math.max(this.#keptMs, startedAt - oldest);
    // The log may begin within the range. Without entries, the division by zero gives Infinity, which sets no bound.
    const begin = oldest === NO_TIME ? from : oldest;
    const wanted = ((to - begin) * this.#shape.wanted) / entries.length;
    this.#widthMs = Math.max(SECOND_MS, wholeSecond(Math.min(wanted, (to - from) * GROWTH)));
  }

  /** Replaces failed ranges by new ones, and splits those with too many entries. */
  #replaceFailed(): void {
    this.#reads = this.#reads.flatMap((read) => {
      if (read.failure === undefined) return [read];
      if (read.failure instanceof TooManyPages) return this.#partsOf(read);
      return [newRead(read.from, read.to)];
    });
  }

  #partsOf({ from, to }: TimeRange): RangeRead[] {
    const width = Math.max(SECOND_MS, wholeSecond((to - from) / PARTS));
    this.#widthMs = Math.min(this.#widthMs, width);
    const parts: RangeRead[] = [];
    for (let begin = from; begin < to; begin += width) parts.push(newRead(begin, Math.min(to, begin + width)));
    return parts;
  }
}

function newRead(from: number, to: number): RangeRead {
  return { from, to, reading: undefined, failure: undefined };
}
