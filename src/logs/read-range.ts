import { SvcError } from '../base/errors.ts';
import type { Clock } from '../base/system.ts';
import { isoTime, wholeSecond, utcTime } from '../cli/output/time.ts';
import type { Client } from '../client/api/client.ts';
import type { LogFilter } from '../client/api/logs.ts';
import { isExpiredCursor, type Page } from '../client/api/pages.ts';
import type { Log } from '../schema/log.ts';
import { beyond, countByKey, type Entry, entryOf, isIn, NO_TIME, secondsOf, Tally, type TimeRange } from './entry.ts';

/** Where entries are read: the service, or a model of it. */
export interface LogSource {
  /** All pages of a range, in whatever order. */
  pages(range: TimeRange, pageSize: number): AsyncIterable<Page<Log>>;
  /** The time by the service's clock. */
  now(): number;
  readonly clock: Clock;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
}

/** The service's logs, or those of one entity type or entity. */
export function serviceLogs(client: Client, filter: Pick<LogFilter, 'entityType' | 'entityId'>): LogSource {
  const { clock, signal } = client;
  return {
    clock,
    signal,
    now: () => client.now(),
    pages: ({ from, to }, pageSize) => {
      const range = { startDate: isoTime(from), endDate: isoTime(to) };
      return client.logs.list({ ...filter, ...range }, { pageSize }).pages();
    },
  };
}

/** What one read of a range found. */
export interface Found {
  readonly entries: readonly Entry[];
  readonly pages: number;
  /** Entries that may be others met again, as they came on several pages. */
  readonly uncertain: readonly Entry[];
}

export interface ReadOptions {
  /** Give up as soon as there are more pages than this. */
  readonly maxPages?: number | undefined;
  /** Request no more pages once it has aborted. */
  readonly stop?: AbortSignal | undefined;
}

/** A range holds more pages than allowed. */
export class TooManyPages extends Error {
  override readonly name = 'TooManyPages';
}

// Each read cuts its pages elsewhere, so that a fault where two pages meet does not repeat itself.
const PAGE_SIZES = [100, 97, 89] as const;
const MAX_READS = 8;
const MAX_RESTARTS = 20;
/** Stands for several pages. */
const SEVERAL = -1;

/**
 * Reads all pages of a range once. When its cursor expires, it starts over and drops what was read, so nothing is lost
 * or duplicated (R27). A range with more pages than a cursor lives for is read in halves.
 * @throws TooManyPages as soon as there are more than `maxPages`; SvcError `truncated` for such a second
 */
export async function readOnce(
  source: LogSource,
  range: TimeRange,
  { size = PAGE_SIZES[0], maxPages = Infinity, stop }: ReadOptions & { readonly size?: number } = {},
): Promise<Found> {
  for (let restart = 0; ; restart += 1) {
    const pages: Entry[][] = [];
    try {
      for await (const page of source.pages(range, size)) {
        pages.push(page.items.map(entryOf).filter((entry) => isIn(range, entry)));
        stop?.throwIfAborted();
        if (pages.length >= maxPages && page.next !== undefined) throw new TooManyPages();
      }
      return { entries: pages.flat(), pages: pages.length, uncertain: uncertainEntries(pages) };
    } catch (error) {
      if (!isExpiredCursor(error, pages.length)) throw error;
      if (restart < MAX_RESTARTS) continue;
      const words = 'the cursor expired each time before the last page was read';
      const failure = new SvcError('truncated', words, { cause: error });
      return readHalves(range, failure, (half) => readOnce(source, half, { size, maxPages, stop }));
    }
  }
}

/** What may be duplicated where pages shift. A page is of one moment: equal entries on one are certain. */
function uncertainEntries(pages: readonly (readonly Entry[])[]): Entry[] {
  const pageOf = new Map<number, number>();
  for (const [page, entries] of pages.entries()) {
    for (const { at } of entries) pageOf.set(at, (pageOf.get(at) ?? page) === page ? page : SEVERAL);
  }
  const doubtful = pages.map((page) => page.filter(({ at }) => pageOf.get(at) === SEVERAL));
  const certain = new Map<string, number>();
  for (const page of doubtful) {
    for (const [key, count] of countByKey(page)) certain.set(key, Math.max(count, certain.get(key) ?? 0));
  }
  return beyond(doubtful.flat(), ({ key }) => certain.get(key) ?? 0);
}

/** Reads a range until two reads agree, as pages may shift meanwhile; one that never settles, in halves. */
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

/** What the two halves of a range hold, the earlier first. @throws the failure for a single second */
async function readHalves({ from, to }: TimeRange, failure: SvcError, read: (half: TimeRange) => Promise<Found>) {
  const middle = wholeSecond((from + to) / 2);
  if (middle <= from) throw failure;
  const early = await read({ from, to: middle });
  const late = await read({ from: middle, to });
  // An entry without a time may have come with both.
  const rest = tallyOf(early.entries).surplus(late.entries);
  return {
    entries: [...early.entries, ...rest],
    pages: early.pages + late.pages,
    uncertain: [...early.uncertain, ...late.uncertain],
  };
}

/**
 * Reads a range of the past once, as nothing is added to it. Only where retention removed something meanwhile, or an entry
 * came on two pages, that part is read until two reads agree.
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

/** Reads a range that entries are still added to: what it holds when two reads agree at once, or else nothing. */
export async function readIfStable(source: LogSource, range: TimeRange): Promise<Found | undefined> {
  const first = await readOnce(source, range);
  if (first.pages === 1) return first;
  const second = await readOnce(source, range, { size: PAGE_SIZES[1] });
  const pages = first.pages + second.pages;
  return areSame(first, second) ? { ...second, pages, uncertain: [] } : undefined;
}

/** What was found without what is uncertain, and with these ranges as another read found them. */
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

/** Whether two reads found the same entries, each as often. */
function areSame({ entries: one }: Found, { entries: other }: Found): boolean {
  return one.length === other.length && tallyOf(one).surplus(other).length === 0;
}

function tallyOf(entries: readonly Entry[]): Tally {
  const tally = new Tally();
  for (const entry of entries) tally.add(entry);
  return tally;
}
