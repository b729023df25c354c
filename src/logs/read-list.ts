// Lists log entries from the service, page by page, with filters and a limit.

import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { nextCommand, option, typedCommand } from '../cli/app/hint.ts';
import {
  type ListProgress,
  newListProgress,
  type PagingInput,
  pagingWords,
  reportRest,
  takePage,
} from '../cli/app/paging.ts';
import { isoTime, parseTime, SECOND_MS, utcTime } from '../cli/output/time.ts';
import { countText } from '../cli/output/number.ts';
import type { LogFilter, Logs } from '../client/api/logs.ts';
import { isEndless, isExpiredCursor, type Page, type PageOptions } from '../client/api/pages.ts';
import type { Log } from '../schema/log.ts';
import { countByKey, entryOf } from './entry.ts';
import { clientFilters, filterWords, reportMatchCount } from './filter-words.ts';
import { type EntityInput, type EntryInput, type intervalOf, type RetentionInput, retentionWords } from './options.ts';
import { MalformedEntries } from './malformed-entries.ts';
import { ListOrder, sifted } from './read-range.ts';

/** The facts about a list in progress, from which its report is made. Times are epoch milliseconds. */
interface ListReading extends ListProgress {
  /** The order and the times of the entries read. */
  order: ListOrder;
  /** Whether a cursor expired and the list continued by time, so that its cursors belong to a narrower list. */
  isNarrower: boolean;
  readonly malformed: MalformedEntries;
}

export function newListReading(): ListReading {
  return { ...newListProgress(), order: new ListOrder(), isNarrower: false, malformed: new MalformedEntries() };
}

interface ReadListOptions {
  /** The most entries to show; `mostRead` is the most to read for them. */
  readonly limit: number | undefined;
  readonly mostRead: number;
  readonly matches: (log: Log) => boolean;
  /** Whether svc filters entries, so that a terminal shows the progress of reading. */
  readonly isFiltered: boolean;
}

/** Yields matching entries page by page until enough were shown, and records in `reading` what was read. */
export async function* readList(
  context: Context,
  pages: AsyncIterable<Page<Log>>,
  { limit, mostRead, matches, isFiltered }: ReadListOptions,
  reading: ListReading,
): AsyncGenerator<readonly Log[]> {
  let live = isFiltered ? context.progress.watching('logs') : undefined;
  try {
    for await (const page of pages) {
      const { batch, isLast } = takePage(page, { limit, mostRead }, reading, matches);
      // The cursor belongs to a narrower list, so it does not continue this command.
      if (reading.isNarrower) reading.next = undefined;
      for (const log of batch) reading.malformed.add(log);
      yield batch;
      if (isLast) return;
      if (page.items.length === 0) live ??= context.progress.watching('logs');
      live?.update({ state: `${countText(reading.read, 'entry')} read` });
      // Once a terminal shows entries, no progress line is needed.
      if (reading.shown > 0 && context.out.isTerminal) live?.done();
    }
  } finally {
    live?.done();
  }
}

/** Whether a list with more entries has shown its oldest ones. */
export function isOldestFirst({ order, more }: ListReading): boolean {
  return more && order.direction === 'newer';
}

const MAX_RESTARTS = 20;
/** The most entries without a time that are remembered to recognize repetitions. */
const MAX_TIMELESS = 10_000;

/**
 * Yields the pages of a list of logs in the service's order. When the cursor expires, the list starts over from the last
 * second yielded, and drops entries of that second that were yielded before, so that nothing is lost or duplicated (R27).
 * `reading` records that, and the order of the list.
 * @throws SvcError `truncated` if the entries are not in order of time, so that the rest cannot be determined
 */
export async function* listSteadily(
  logs: Pick<Logs, 'list'>,
  filter: LogFilter,
  options: PageOptions & {
    /** Called when the service sends entries outside the requested time. */
    readonly onIgnoredTimes?: () => void;
  },
  reading: Pick<ListReading, 'order' | 'isNarrower'> = newListReading(),
): AsyncGenerator<Page<Log>> {
  reading.order = new ListOrder();
  const position = new ListPosition(options.start !== undefined, reading.order);
  let rest = filter;
  let { start } = options;
  for (let restart = 0; ;) {
    let pages = 0;
    try {
      const list = logs.list(rest, { ...options, start }).pages();
      for await (const { items, next } of inTimeOf(rest, list, options.onIgnoredTimes)) {
        pages += 1;
        const fresh = position.take(items);
        if (fresh.length > 0) restart = 0;
        yield { items: fresh, next };
      }
      return;
    } catch (error) {
      restart += 1;
      if (!isExpiredCursor(error, pages) || restart > MAX_RESTARTS) throw error;
      rest = position.rest(filter, error);
      start = undefined;
      reading.isNarrower = true;
    }
  }
}

function inTimeOf(
  { startDate, endDate }: LogFilter,
  pages: AsyncIterable<Page<Log>>,
  onIgnored: (() => void) | undefined,
): AsyncIterable<Page<Log>> {
  if (startDate === undefined && endDate === undefined) return pages;
  const range = { from: parseTime(startDate ?? '') ?? -Infinity, to: parseTime(endDate ?? '') ?? Infinity };
  return sifted(pages, range, onIgnored);
}

/** The progress of a list, as far as it is in order of time. */
class ListPosition {
  readonly #hasStart: boolean;
  readonly #order: ListOrder;
  #last: string | undefined;
  /** The entries of the last second yielded so far. */
  #given: Log[] = [];
  /** The entries without a time yielded so far. They may be anywhere in the list. */
  readonly #timeless: Log[] = [];
  /** The number of times that each entry, by key, will be repeated. */
  #repeated = new Map<string, number>();

  constructor(hasStart: boolean, order: ListOrder) {
    this.#hasStart = hasStart;
    this.#order = order;
  }

  /** Returns the entries of a page that were not yielded before. */
  take(items: readonly Log[]): readonly Log[] {
    const fresh = this.#repeated.size === 0 ? items : items.filter((log) => !this.#isRepeated(log));
    for (const log of fresh) this.#pass(log);
    return fresh;
  }

  /** Returns the filter for the rest of the list. */
  rest(filter: LogFilter, expired: SvcError): LogFilter {
    const { direction, second = 0 } = this.#order;
    if (direction === 'none' || (this.#hasStart && direction === 'unknown'))
      throw expired.with({
        code: 'truncated',
        message: 'the cursor expired, and the entries are in no order to resume by',
        hint: 'Run it again for shorter time ranges.',
        next: undefined,
        retryable: false,
      });
    this.#repeated = countByKey([...this.#given, ...this.#timeless].map(entryOf));
    if (direction === 'older') return { ...filter, endDate: isoTime(second + SECOND_MS) };
    return direction === 'newer' ? { ...filter, startDate: isoTime(second) } : filter;
  }

  #isRepeated(log: Log): boolean {
    const { key } = entryOf(log);
    const left = this.#repeated.get(key) ?? 0;
    if (left > 1) this.#repeated.set(key, left - 1);
    else this.#repeated.delete(key);
    return left > 0;
  }

  #pass(log: Log): void {
    if (log.created_at !== this.#last) {
      const at = parseTime(log.created_at);
      if (at === undefined) {
        if (this.#timeless.length < MAX_TIMELESS) this.#timeless.push(log);
        else this.#order.direction = 'none';
        return;
      }
      this.#last = log.created_at;
      if (this.#order.add(at)) {
        this.#given = [log];
        return;
      }
    }
    this.#given.push(log);
  }
}

type Interval = ReturnType<typeof intervalOf>;

type ListInput = EntryInput &
  EntityInput &
  PagingInput &
  RetentionInput & { readonly hideOwnReads?: boolean | undefined };

/** Reports how much of the log was searched, what that found, and the command for the rest. */
export function reportSearched(
  context: Context,
  input: ListInput,
  interval: Interval,
  {
    reading,
    isFiltered,
    limits,
  }: { readonly reading: ListReading; readonly isFiltered: boolean; readonly limits: ReadLimits },
): void {
  const range = isFiltered ? rangeOf(reading) : '';
  const isEarly = reading.more && reading.read >= limits.mostRead && reading.shown < (limits.limit ?? 0);
  const rest = isEarly ? restWords(input, interval, reading) : undefined;
  reportMatchCount(context, input, reading, rest === undefined ? range : '');
  // The note on filters has just said that there was no match.
  if (rest === undefined && reading.shown === 0 && !reading.more && clientFilters(input).length > 0) return;
  if (rest === undefined)
    return reportRest(context, reading, {
      nothing: 'no log entries',
      limit: input.limit,
      wordsFrom: (start) => wordsFrom(input, interval, start),
    });
  context.notices.note(`searched ${countText(reading.read, 'entry')}${range}; to search on`);
  context.notices.command(typedCommand(rest, context.globals, context.system));
}

/** The most entries to show, and the most to read for them. */
interface ReadLimits {
  readonly limit: number | undefined;
  readonly mostRead: number;
}

function rangeOf({ order: { oldest, newest } }: ListReading): string {
  return oldest === Infinity ? '' : `, from ${utcTime(oldest)} to ${utcTime(newest)}`;
}

/** Adds to the error for a list without an end what was searched, and the command that continues there. */
export function withSearched(error: unknown, input: ListInput, interval: Interval, reading: ListReading): unknown {
  if (!isEndless(error)) return error;
  const searched = `searched ${countText(reading.read, 'entry')}${rangeOf(reading)}`;
  return error.with({
    message: `${error.message}; ${searched}`,
    hint: 'The service may search one time range after the other. To search on:',
    next: restWords(input, interval, reading),
  });
}

/** Returns the command that reads on: from the cursor or, without one, from the time of the last entry. */
function restWords(input: ListInput, interval: Interval, { order, next }: ListReading): string[] | undefined {
  if (next !== undefined) return wordsFrom(input, interval, next);
  // The cursors belong to a narrower list, so the command continues by time and may repeat entries of one second.
  const { direction, second } = order;
  if (second === undefined) return undefined;
  const { since, until } = interval;
  return wordsFrom(
    input,
    direction === 'newer' ? { since: second, until } : { since, until: second + SECOND_MS },
    undefined,
  );
}

/** Returns the command of a list from a cursor. The times are absolute, because a cursor belongs to its filters. */
function wordsFrom(input: ListInput, { since, until }: Interval, start: string | undefined): string[] {
  return [
    'logs',
    'list',
    ...option('--since', isoTime(since)),
    ...option('--until', isoTime(until)),
    ...filterWords(input),
    ...(input.hideOwnReads ? ['--hide-own-reads'] : []),
    ...retentionWords(input),
    ...pagingWords(input, start),
  ];
}

/** Warns that a page is not of the newest entries: the service promises no order. */
export function warnOfOldest({ notices, globals, system }: Context, { since }: Interval): void {
  const where = since === undefined ? 'of the log' : 'of the requested time';
  notices.warn(`this service lists its oldest entries first: these are the oldest ${where}, not the newest`);
  notices.note(`for the newest: ${nextCommand(['logs', 'tail', '--last', '<n>'], globals, system)}`);
}

/**
 * Warns where entries may be missing because the service no longer keeps them. `now` is the service's time.
 * @throws SvcError `entries_missing` with `--strict`
 */
export async function requireKept(
  { notices }: Context,
  { since, until = Infinity }: Interval,
  { retention, strict }: RetentionInput,
  { more, oldest }: { readonly more: boolean; readonly oldest: number },
  now: number,
): Promise<void> {
  const { DEFAULT_RETENTION_MS, MIN_GAP_MS } = await import('./entry.ts');
  const edge = now - (retention ?? DEFAULT_RETENTION_MS);
  // The service deletes the oldest entries first, so the oldest entry read proves that all later ones exist.
  const to = Math.min(edge, until, more ? Infinity : oldest);
  // Without --since, an entry that was found shows that the service keeps entries of that time.
  if (since === undefined ? until > edge || oldest < Infinity : to - since < MIN_GAP_MS) return;
  const gap = `entries may be missing ${since === undefined ? 'before' : `from ${utcTime(since)} to`} ${utcTime(to)}`;
  notices.warn(`${gap}: older than the service keeps them (--retention)`);
  if (strict)
    throw new SvcError('entries_missing', 'entries may be missing: the service no longer has them', {
      hint: 'Search an archive of the logs instead, or choose a later time.',
    });
}
