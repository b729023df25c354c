// Reads all log entries of a time range, through lists whose pages shift.

import { SvcError } from '../base/errors.ts';
import type { Clock } from '../base/system.ts';
import { isoTime, parseTime, SECOND_MS, utcTime, wholeSecond } from '../cli/output/time.ts';
import type { Client } from '../client/api/client.ts';
import type { LogFilter } from '../client/api/logs.ts';
import { isExpiredCursor, type Page } from '../client/api/pages.ts';
import { MINUTE_MS } from '../schema/durations.ts';
import type { Log } from '../schema/log.ts';
import { beyond, countByKey, type Entry, entryOf, isIn, NO_TIME, secondsOf, Tally, type TimeRange } from './entry.ts';

/** How far outside the requested time an entry must be to count: times may be sent and compared without fractions. */
const LEEWAY_MS = 1_000;
/** How far behind the requested time a list in order must be before its rest is left unread: entries may arrive late. */
const LATE_MS = 10 * MINUTE_MS;

/**
 * Yields the pages of a list of a time range. A service, or a cache before it, that ignores `start_date` and `end_date`
 * sends entries outside the range. They are left out, and a list in order of time ends after the range.
 */
export async function* sifted(
  pages: AsyncIterable<Page<Log>>,
  range: TimeRange,
  onIgnored?: () => void,
): AsyncGenerator<Page<Log>> {
  const order = new ListOrder();
  let isIgnored = false;
  for await (const page of pages) {
    if (hasOutside(page.items, range, order) && !isIgnored) {
      isIgnored = true;
      onIgnored?.();
    }
    if (!isIgnored) {
      yield page;
      continue;
    }
    const times = page.items.map(({ created_at: created }) => parseTime(created));
    const isOver = isBehind(times, range, order);
    const items = page.items.filter((_, at) => !isOutside(times[at], range));
    yield { ...page, items, isSifted: true, ...(isOver && { next: undefined }) };
    if (isOver) return;
  }
}

/** Adds the times of entries to the order of their list. Returns whether one of them is outside the range. */
function hasOutside(items: readonly Log[], range: TimeRange, order: ListOrder): boolean {
  let isFound = false;
  for (const { created_at: created } of items) {
    const at = parseTime(created);
    if (at === undefined) continue;
    order.add(at);
    isFound ||= isOutside(at, range);
  }
  return isFound;
}

function isOutside(at: number | undefined, { from, to }: TimeRange): boolean {
  return at !== undefined && (at < from - LEEWAY_MS || at >= to + LEEWAY_MS);
}

/** Whether all entries of a page, and therefore of the pages after it, are beyond the range. */
function isBehind(times: readonly (number | undefined)[], { from, to }: TimeRange, { direction }: ListOrder): boolean {
  if (times.length === 0 || (direction !== 'older' && direction !== 'newer')) return false;
  return times.every((at) => at !== undefined && (direction === 'older' ? at < from - LATE_MS : at >= to + LATE_MS));
}

/** The order of a list by time, as far as its entries show it, and their times. Entries of one second show no order. */
export class ListOrder {
  direction: 'unknown' | 'older' | 'newer' | 'none' = 'unknown';
  /** The second of the last entry. */
  second: number | undefined;
  /** The times of the oldest and the newest entry; infinite without any. */
  oldest = Infinity;
  newest = -Infinity;

  /** Adds the time of the next entry. Returns whether it is of another second than the one before. */
  add(at: number): boolean {
    if (at < this.oldest) this.oldest = at;
    if (at > this.newest) this.newest = at;
    const second = wholeSecond(at);
    if (second === this.second) return false;
    if (this.second !== undefined) {
      const step = second < this.second ? 'older' : 'newer';
      if (this.direction === 'unknown') this.direction = step;
      else if (this.direction !== step) this.direction = 'none';
    }
    this.second = second;
    return true;
  }
}

/** The source of entries: the service, or a model of it in tests. */
export interface LogSource {
  /** Reads all pages of a range, in any order of entries. */
  pages(range: TimeRange, pageSize: number): AsyncIterable<Page<Log>>;
  /** Returns the time by the service's clock. */
  now(): number;
  readonly clock: Clock;
  /** Aborts all work. */
  readonly signal: AbortSignal;
}

/** Returns the service's logs as a source, optionally of one entity type or entity. */
export function serviceLogs(client: Client, filter: Pick<LogFilter, 'entityType' | 'entityId'>): LogSource {
  const { clock, signal } = client;
  return {
    clock,
    signal,
    now: () => client.now(),
    pages: (range, pageSize) => {
      const times = { startDate: isoTime(range.from), endDate: isoTime(range.to) };
      const pages = client.logs.list({ ...filter, ...times }, { pageSize }).pages();
      return sifted(pages, range, () => client.onIgnoredTimes());
    },
  };
}

/** The entries found by reading a range. */
export interface Found {
  readonly entries: readonly Entry[];
  readonly pages: number;
  /** Entries that may be repetitions, because equal ones were on several pages. */
  readonly uncertain: readonly Entry[];
}

export interface ReadOptions {
  /** The most pages with entries; reading gives up when there are more. */
  readonly maxPages?: number | undefined;
  /** Stops further page requests when it aborts. */
  readonly stop?: AbortSignal | undefined;
}

/** The error for a range with more pages than allowed; `sifted` if the service ignores the range and sends all of its log. */
export class TooManyPages extends Error {
  override readonly name = 'TooManyPages';
  readonly isSifted: boolean;

  constructor(why?: 'sifted') {
    super();
    this.isSifted = why === 'sifted';
  }
}

// Each read uses another page size, so that a fault between two pages is not repeated at the same entries.
const PAGE_SIZES = [100, 97, 89] as const;
const MAX_READS = 8;
const MAX_RESTARTS = 20;

/**
 * Reads all pages of a range once. When its cursor expires, it starts over and drops what was read, so nothing is lost
 * or duplicated (R27). A range with more pages than a cursor lives for is read in halves.
 * @throws TooManyPages if there are more than `maxPages`; SvcError `truncated` if one second has more pages than a cursor lives for
 */
export async function readOnce(source: LogSource, range: TimeRange, how: ReadOnceOptions = {}): Promise<Found> {
  const list = await readPages(source, range, how);
  return list.repeatsCursor ? readRest(source, range, list, how) : list;
}

interface ReadOnceOptions extends ReadOptions {
  readonly size?: number | undefined;
}

/** The entries of one list, and whether it ended only because the last page repeats the cursor of its request. */
interface FoundList extends Found {
  readonly repeatsCursor: boolean;
}

async function readPages(source: LogSource, range: TimeRange, how: ReadOnceOptions): Promise<FoundList> {
  const { size = PAGE_SIZES[0], maxPages = Infinity, stop } = how;
  for (let restart = 0; ; restart += 1) {
    const pages: Entry[][] = [];
    let filled = 0;
    let repeatsCursor = false;
    try {
      for await (const page of source.pages(range, size)) {
        pages.push(page.items.map(entryOf).filter((entry) => isIn(range, entry)));
        stop?.throwIfAborted();
        if (page.isSifted && maxPages < Infinity) throw new TooManyPages('sifted');
        if (page.items.length > 0) filled += 1;
        // A page that is not full is the last one of services that end a list with an empty page.
        const isFull = page.next !== undefined && page.items.length >= size;
        if (filled > maxPages || (filled === maxPages && isFull)) throw new TooManyPages();
        repeatsCursor = page.repeatsCursor === true;
      }
      const uncertain = uncertainEntries(pages);
      return { entries: pages.flat(), pages: pages.length, uncertain, repeatsCursor };
    } catch (error) {
      if (!isExpiredCursor(error, pages.length)) throw error;
      if (restart < MAX_RESTARTS) continue;
      const words = 'the cursor expired each time before the last page was read';
      const nothing = { hint: undefined, next: undefined, retryable: false };
      const failure = error.with({ code: 'truncated', message: words, ...nothing });
      const found = await readHalves(range, failure, (half) => readOnce(source, half, how));
      return { ...found, repeatsCursor: false };
    }
  }
}

/**
 * Reads on by time after a list whose last page repeats its cursor, until that finds no other entry: a cursor that leads
 * nowhere does not show that all entries were read.
 */
async function readRest(
  source: LogSource,
  range: TimeRange,
  list: Found,
  { size, stop }: ReadOnceOptions,
): Promise<Found> {
  const entries = [...list.entries];
  let { pages } = list;
  for (let round = 0; round <= MAX_RESTARTS; round += 1) {
    const rest: Entry[] = [];
    for (const [number, part] of restOf(range, entries).entries()) {
      const read = await readPages(source, part, { size, stop });
      // An entry without a time is in each part.
      for (const entry of read.entries) if (number === 0 || entry.at !== NO_TIME) rest.push(entry);
      pages += read.pages;
    }
    const missed = tallyOf(entries).surplus(rest);
    if (missed.length === 0) return { ...list, entries, pages };
    for (const entry of missed) entries.push(entry);
  }
  throw new SvcError('truncated', 'the service ended each list with a repeated cursor, before its last entry', {
    hint: 'Try again with a narrower filter. If it happens again, report it to the service.',
  });
}

/** Returns the part of a range after the last entry of a list: both halves if the list is in no order of time. */
function restOf(range: TimeRange, entries: readonly Entry[]): readonly TimeRange[] {
  const order = new ListOrder();
  for (const { at } of entries) if (at !== NO_TIME) order.add(at);
  const { direction, second: last = range.from } = order;
  if (direction === 'older') return [{ from: range.from, to: Math.min(range.to, last + SECOND_MS) }];
  if (direction === 'newer') return [{ from: Math.max(range.from, last), to: range.to }];
  const middle = wholeSecond((range.from + range.to) / 2);
  if (direction === 'unknown' || middle <= range.from) return [range];
  return [
    { from: range.from, to: middle },
    { from: middle, to: range.to },
  ];
}

/** Returns entries that may be duplicates from shifting pages. Equal entries on the same page are certainly different. */
function uncertainEntries(pages: readonly (readonly Entry[])[]): Entry[] {
  const ranges = pages.map(rangeOf);
  // Only entries of times that two pages have in common can be equal.
  const doubtful = pages.map((page, number) => {
    const others = ranges.filter((_, at) => at !== number);
    return page.filter(({ at }) => others.some(({ from, to }) => at >= from && at <= to));
  });
  const certain = new Map<string, number>();
  for (const page of doubtful) {
    for (const [key, count] of countByKey(page)) certain.set(key, Math.max(count, certain.get(key) ?? 0));
  }
  return beyond(doubtful.flat(), ({ key }) => certain.get(key) ?? 0);
}

function rangeOf(page: readonly Entry[]): TimeRange {
  const range = { from: Infinity, to: -Infinity };
  for (const { at } of page) {
    if (at < range.from) range.from = at;
    if (at > range.to) range.to = at;
  }
  return range;
}

/** Reads a range until two reads agree, because pages may shift meanwhile. A range that never settles is read in halves. */
export async function readReliably(
  source: LogSource,
  range: TimeRange,
  { earlier, ...options }: ReadOptions & { readonly earlier?: Found | undefined } = {},
): Promise<Found> {
  let last = earlier;
  let pages = earlier?.pages ?? 0;
  for (let read = earlier ? 1 : 0; read < MAX_READS; read += 1) {
    const found = await readOnce(source, range, { ...options, size: PAGE_SIZES[read % PAGE_SIZES.length] ?? 100 });
    pages += found.pages;
    if (found.pages === 1 || (last && areSame(last, found))) return { ...found, pages, uncertain: [] };
    last = found;
  }
  const words = `the entries of ${utcTime(range.from)} changed each time they were read`;
  const failure = new SvcError('truncated', words);
  const half = await readHalves(range, failure, (one) => readReliably(source, one, options));
  return { ...half, pages: pages + half.pages };
}

/** Reads the two halves of a range, the earlier first. @throws `failure` if the range is a single second */
async function readHalves({ from, to }: TimeRange, failure: SvcError, read: (half: TimeRange) => Promise<Found>) {
  const middle = wholeSecond((from + to) / 2);
  if (middle <= from) throw failure;
  const early = await read({ from, to: middle });
  const late = await read({ from: middle, to });
  // An entry without a time may be in both halves.
  const rest = tallyOf(early.entries).surplus(late.entries);
  return {
    entries: [...early.entries, ...rest],
    pages: early.pages + late.pages,
    uncertain: [...early.uncertain, ...late.uncertain],
  };
}

/**
 * Reads a range of the past once, because nothing is added to it any more. It is read until two reads agree if retention
 * may have removed entries meanwhile, and so are the seconds of equal entries on two pages.
 */
export async function readSettled(
  source: LogSource,
  range: TimeRange,
  { isStable = () => true, ...options }: ReadOptions & { readonly isStable?: () => boolean } = {},
): Promise<Found> {
  const found = await readOnce(source, range, options);
  if (found.pages === 1) return found;
  if (!isStable()) return readReliably(source, range, { ...options, earlier: found });
  return resolved(found, secondsOf(found.uncertain), (doubt) => readReliably(source, doubt, { stop: options.stop }));
}

/** Reads a range that still gets entries. Undefined if two successive reads differ. */
export async function readIfStable(source: LogSource, range: TimeRange): Promise<Found | undefined> {
  const first = await readOnce(source, range);
  if (first.pages === 1) return first;
  const second = await readOnce(source, range, { size: PAGE_SIZES[1] });
  const pages = first.pages + second.pages;
  return areSame(first, second) ? { ...second, pages, uncertain: [] } : undefined;
}

/** Drops uncertain entries, and replaces the given ranges by the results of another read. */
export async function resolved(
  found: Found,
  ranges: readonly TimeRange[],
  read: (range: TimeRange) => Promise<Found | undefined>,
): Promise<Found> {
  if (found.uncertain.length === 0) return found;
  const doubts = new Set(found.uncertain);
  let entries = found.entries.filter((entry) => !doubts.has(entry));
  let { pages } = found;
  for (const range of ranges) {
    const better = await read(range);
    if (better) {
      const others = entries.filter((entry) => entry.at === NO_TIME || !isIn(range, entry));
      entries = [...others, ...better.entries.filter(({ at }) => at !== NO_TIME)];
    }
    pages += better?.pages ?? 2;
  }
  return { entries, pages, uncertain: [] };
}

/** Whether two reads found the same entries, each with the same count. */
function areSame({ entries: one }: Found, { entries: other }: Found): boolean {
  return one.length === other.length && tallyOf(one).surplus(other).length === 0;
}

function tallyOf(entries: readonly Entry[]): Tally {
  const tally = new Tally();
  for (const entry of entries) tally.add(entry);
  return tally;
}
