// Finds the last entries of the log (`--last`).

import { isSvcError, SvcError } from '../../base/errors.ts';
import { SECOND_MS, utcTime, wholeSecond } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { byTime, type Entry, NO_TIME, type TailPosition, Tally, type TimeRange } from '../entry.ts';
import { type Found, type LogSource, readOnce, readSettled, TooManyPages } from '../read-range.ts';
import { outageDelayMs, type TailEvent } from './follow.ts';

export interface LastOptions {
  /** The number of requested entries. */
  readonly count: number;
  /** Stop after reading this many entries. */
  readonly mostRead: number;
  /** The time at which to stop reading backwards, a whole second. `until` is the time before which to begin. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly overlapMs: number;
  readonly retentionMs: number;
  /** Selects the entries that count. */
  readonly keep?: ((log: Log) => boolean) | undefined;
  /** Receives each entry without a readable time once. They never count. */
  readonly onTimeless?: ((log: Log) => void) | undefined;
  /** Receives outages. Without it, an outage is an error; with it, the reading waits until the outage ends. */
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  /** The longest wait for the end of an outage, in milliseconds. Default: no limit. */
  readonly patienceMs?: number | undefined;
}

export interface LastEntries {
  /** The entries found, oldest first. */
  readonly logs: readonly Log[];
  /** The position for a tail that continues after the entries without repeating any. */
  readonly position: TailPosition;
  readonly read: number;
  readonly requests: number;
  /** The time back to which the log was read; 0 if all of it was. */
  readonly readFrom: number;
}

const FIRST_MS = 10_000;
const GROWTH = 8;
const MAX_PAGES = 8;
const PAGE = 100;
/** The targeted entries in a range, so that it rarely has more pages than allowed. */
const WANTED = 560;
const CLOCK_LEEWAY_MS = 2 * SECOND_MS;
const MAX_CORRECTIONS = 5;

/**
 * Finds the last entries by time. The service promises no order, so ranges are read backwards from the present. Each is
 * wider than the one before, unless that had many entries. @throws SvcError
 */
export async function lastEntries(source: LogSource, options: LastOptions): Promise<LastEntries> {
  const reader = new BackwardReader(source, options);
  while (!reader.isDone) await reader.step();
  return reader.result();
}

/**
 * Returns the first range to read, which ends at `until` at the latest. It includes the current second, which is kept only if one
 * page has the whole range.
 */
export function firstRange(now: number, until = Infinity): TimeRange {
  const to = Math.min(wholeSecond(now) + SECOND_MS, until);
  return { from: to - FIRST_MS, to };
}

class BackwardReader {
  readonly #source: LogSource;
  readonly #options: LastOptions;
  readonly #passed = new Tally();
  #matches: readonly Entry[] = [];
  #end: number;
  #to: number;
  #widthMs = FIRST_MS;
  #isFirst = true;
  #corrections = 0;
  /** Whether the service ignores ranges, so that all of the past is read as one. */
  #isSifted = false;
  #newest: number | undefined;
  #read = 0;
  #requests = 0;
  #outage: { readonly at: number; failures: number } | undefined;

  constructor(source: LogSource, options: LastOptions) {
    this.#source = source;
    this.#options = options;
    this.#end = wholeSecond(source.now());
    this.#to = firstRange(this.#end, options.until).to;
  }

  get #floor(): number {
    return this.#options.since ?? 0;
  }

  /** The number of entries that may still be read. */
  get #left(): number {
    return Math.max(1, this.#options.mostRead - this.#read);
  }

  get isDone(): boolean {
    const { count, mostRead } = this.#options;
    return this.#matches.length >= count || this.#to <= this.#floor || this.#read >= mostRead;
  }

  async step(): Promise<void> {
    const range = { from: Math.max(this.#floor, this.#to - this.#widthMs), to: this.#to };
    try {
      const found = await this.#readRange(range);
      if (found !== undefined) this.#take(range, found);
      this.#reportEnd();
    } catch (error) {
      this.#source.signal.throwIfAborted();
      if (error instanceof TooManyPages) this.#narrow(error);
      else await this.#waitOut(error);
    }
  }

  result(): LastEntries {
    const { count, overlapMs } = this.#options;
    const matches = this.#matches.slice(-count);
    const [oldest] = matches;
    const floor = wholeSecond((this.#newest ?? this.#end) - overlapMs);
    // The tail must not return entries older than the oldest match or than everything that was read.
    const from = oldest !== undefined && matches.length === count ? oldest.at : Math.max(0, this.#to);
    const settled = Math.max(floor, wholeSecond(from));
    this.#passed.forgetBefore(settled);
    return {
      logs: matches.map(({ log }) => log),
      position: { settled, readTo: this.#end, newest: this.#newest, passed: this.#passed.lines()() },
      read: this.#read,
      requests: this.#requests,
      readFrom: Math.max(0, this.#to),
    };
  }

  /**
   * Reads the first range; undefined if the response showed another time of the service. The next read then begins there,
   * and confirms it, because a wrong header of one response must not decide which entries are the last ones.
   */
  async #readFirst(range: TimeRange): Promise<Found | undefined> {
    const { clock } = this.#source;
    const offset = this.#source.now() - clock.now();
    this.#requests += 1;
    const found = await readOnce(this.#source, range, { maxPages: 1 }).catch((error: unknown) => {
      if (!(error instanceof TooManyPages)) throw error;
      return error;
    });
    if (Math.abs(this.#source.now() - clock.now() - offset) > CLOCK_LEEWAY_MS) {
      this.#corrections += 1;
      this.#isFirst = this.#corrections < MAX_CORRECTIONS;
      this.#end = wholeSecond(this.#source.now());
      if (this.#end <= this.#floor) throw clockBefore(this.#end, this.#floor);
      this.#toEnd();
      return undefined;
    }
    if (found instanceof TooManyPages) throw found;
    this.#isFirst = false;
    return found;
  }

  /** Reads a range; undefined if the first response showed that this machine's clock is wrong. */
  async #readRange(range: TimeRange): Promise<Found | undefined> {
    if (this.#isFirst) return this.#readFirst(range);
    const { overlapMs, retentionMs } = this.#options;
    const isStable = (): boolean =>
      this.#isSifted ||
      (range.to <= this.#end - overlapMs && range.from > this.#source.now() - retentionMs + CLOCK_LEEWAY_MS);
    const fewPages = Math.min(MAX_PAGES, Math.ceil(this.#left / PAGE));
    const maxPages = this.#isSifted || range.to - range.from <= SECOND_MS ? Infinity : fewPages;
    const found = await readSettled(this.#source, range, { maxPages, isStable });
    this.#requests += found.pages;
    return found;
  }

  #take({ from, to }: TimeRange, { entries }: Found): void {
    const { count, overlapMs, keep = () => true, onTimeless } = this.#options;
    const timed = entries.filter(({ at }) => at !== NO_TIME).toSorted(byTime);
    this.#newest ??= timed.at(-1)?.at;
    const floor = (this.#newest ?? this.#end) - overlapMs - SECOND_MS;
    for (const entry of timed) if (entry.at >= floor) this.#passed.add(entry);
    // Entries without a readable time are in the response for every range.
    for (const entry of this.#passed.surplus(entries.filter(({ at }) => at === NO_TIME))) {
      this.#passed.add(entry);
      onTimeless?.(entry.log);
    }
    const matches = timed.filter(({ log }) => keep(log));
    this.#matches = [...matches, ...this.#matches];
    this.#read += timed.length;
    this.#to = from;
    const width = to - from;
    const wanted = (width * 1.5 * (count - this.#matches.length)) / matches.length;
    const bearable = (width * Math.min(WANTED, this.#left)) / timed.length;
    // Without entries, the division by zero gives Infinity, which sets no bound.
    this.#widthMs = Math.max(SECOND_MS, wholeSecond(Math.min(width * GROWTH, bearable, wanted)));
  }

  #narrow({ isSifted }: TooManyPages): void {
    if (this.#isFirst) this.#toEnd();
    else this.#requests += MAX_PAGES;
    this.#isFirst = false;
    this.#isSifted ||= isSifted;
    this.#widthMs = isSifted ? Infinity : Math.max(SECOND_MS, wholeSecond(this.#widthMs / GROWTH));
  }

  /** Begins at the present, or before it at the requested time. */
  #toEnd(): void {
    this.#to = Math.min(this.#end, this.#options.until ?? Infinity);
  }

  async #waitOut(error: unknown): Promise<void> {
    const { onEvent, patienceMs = Infinity } = this.#options;
    if (onEvent === undefined || !isSvcError(error) || !error.retryable) throw error;
    const { clock, signal } = this.#source;
    this.#outage ??= { at: clock.now(), failures: 0 };
    this.#outage.failures += 1;
    const leftMs = this.#outage.at + patienceMs - clock.now();
    if (leftMs <= 0) throw error;
    const nextMs = Math.min(outageDelayMs(this.#outage.failures), leftMs);
    if (this.#outage.failures === 1) onEvent({ kind: 'disconnected', reason: error.message, nextMs });
    await clock.sleep(nextMs, signal);
  }

  #reportEnd(): void {
    if (this.#outage === undefined) return;
    const afterMs = this.#source.clock.now() - this.#outage.at;
    this.#options.onEvent?.({ kind: 'caught up', afterMs, entries: this.#matches.length });
    this.#outage = undefined;
  }
}

function clockBefore(now: number, since: number): SvcError {
  const words = `the service's clock shows ${utcTime(now)}, before the time to read from, ${utcTime(since)}`;
  return new SvcError('bad_response', words, {
    hint: 'Its Date header, that of a gateway or the clock of this machine is wrong.',
    retryable: true,
  });
}
