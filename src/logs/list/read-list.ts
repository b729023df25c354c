import type { SvcError } from '../../base/errors.ts';
import { MAX_DEPTH } from '../../base/json/source.ts';
import type { Context } from '../../cli/app/command.ts';
import { type ListProgress, newListProgress, takePage } from '../../cli/app/print.ts';
import { countText, formatNumber, isoTime, parseTime, SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { type LogFilter, type Logs, type Malformation, malformationOf } from '../../client/api/logs.ts';
import { isExpiredCursor, type Page, type PageOptions } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import { countByKey, entryOf } from '../entry.ts';
import { sifted } from '../read-range.ts';

/** The facts about a list in progress, from which its report is made. Times are epoch milliseconds. */
export interface ListReading extends ListProgress {
  /** The times of the oldest and the newest entry read; infinite if none has a readable time. */
  oldest: number;
  newest: number;
  /** The times of the first and the last entry read, which show the order of the list. */
  first: number | undefined;
  last: number | undefined;
  /** Whether a cursor expired and the list continued by time, so that its cursors belong to a narrower list. */
  isNarrower: boolean;
  readonly malformed: MalformedEntries;
}

export function newListReading(): ListReading {
  return {
    ...newListProgress(),
    oldest: Infinity,
    newest: -Infinity,
    first: undefined,
    last: undefined,
    isNarrower: false,
    malformed: new MalformedEntries(),
  };
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
      notePage(reading, page.items);
      const { batch, isLast } = takePage(page, { limit, mostRead }, reading, matches);
      reading.malformed.count(batch);
      yield batch;
      if (isLast) return;
      if (page.items.length === 0) live ??= context.progress.watching('logs');
      live?.update({ state: `${countText(reading.read, 'entry')} read` });
      // Once a terminal shows entries, no progress line is needed.
      if (reading.shown > 0 && context.out.isTerminal) live?.fail();
    }
  } finally {
    live?.fail();
  }
}

function notePage(reading: ListReading, items: readonly Log[]): void {
  for (const { created_at: created } of items) {
    const at = parseTime(created);
    if (at === undefined) continue;
    reading.oldest = Math.min(reading.oldest, at);
    reading.newest = Math.max(reading.newest, at);
    reading.first ??= at;
    reading.last = at;
  }
}

/** Whether a list with more entries has shown its oldest ones. Entries of one second do not show the order. */
export function isOldestFirst({ first, last, more }: ListReading): boolean {
  return more && wholeSecond(last ?? 0) > wholeSecond(first ?? 0);
}

type Problem = Malformation | 'no time';

const DESCRIPTIONS: Readonly<Record<Problem, string>> = {
  'no time': 'without a readable time (created_at)',
  'too deep': `nested more than ${MAX_DEPTH} levels deep`,
  'other types': 'with fields of other types than documented',
  'not an object': 'that are not objects',
};

/** Counts entries that differ from the documented form. They are kept like all others. */
export class MalformedEntries {
  readonly #counts = new Map<Problem, number>();

  count(logs: readonly Log[]): void {
    for (const log of logs) {
      const problem = malformationOf(log) ?? (parseTime(log.created_at) === undefined ? 'no time' : undefined);
      if (problem !== undefined) this.#counts.set(problem, (this.#counts.get(problem) ?? 0) + 1);
    }
  }

  warn({ notices }: Pick<Context, 'notices'>): void {
    for (const [problem, count] of this.#counts)
      notices.warn(`entries ${DESCRIPTIONS[problem]}: ${formatNumber(count)}, kept as the service sent them`);
  }
}

const MAX_RESTARTS = 20;
/** The most entries without a time that are remembered to recognize repetitions. */
const MAX_TIMELESS = 10_000;

/**
 * Yields the pages of a list of logs in the service's order. When the cursor expires, the list starts over from the last
 * second yielded, and drops entries of that second that were yielded before, so that nothing is lost or duplicated (R27).
 * `onRestart` is then called, because the following cursors belong to a narrower list.
 * @throws SvcError `truncated` if the entries are not in order of time, so that the rest cannot be determined
 */
export async function* listSteadily(
  logs: Pick<Logs, 'list'>,
  filter: LogFilter,
  options: PageOptions & {
    readonly onRestart?: (() => void) | undefined;
    /** Called when the service sends entries outside the requested time. */
    readonly onIgnoredTimes?: () => void;
  },
): AsyncGenerator<Page<Log>> {
  const position = new ListPosition(options.start !== undefined);
  let rest = filter;
  let { start } = options;
  for (let restart = 0; ;) {
    let pages = 0;
    try {
      const range = {
        from: parseTime(rest.startDate ?? '') ?? -Infinity,
        to: parseTime(rest.endDate ?? '') ?? Infinity,
      };
      const list = logs.list(rest, { ...options, start }).pages();
      for await (const { items, next } of sifted(list, range, options.onIgnoredTimes)) {
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
      options.onRestart?.();
    }
  }
}

/** The progress of a list, as far as it is in order of time. */
class ListPosition {
  readonly #hasStart: boolean;
  #direction: 'unknown' | 'older' | 'newer' | 'none' = 'unknown';
  #last: string | undefined;
  #second: number | undefined;
  /** The entries of that second yielded so far. */
  #given: Log[] = [];
  /** The entries without a time yielded so far. They may be anywhere in the list. */
  readonly #timeless: Log[] = [];
  /** The number of times that each entry, by key, will be repeated. */
  #repeated = new Map<string, number>();

  constructor(hasStart: boolean) {
    this.#hasStart = hasStart;
  }

  /** Returns the entries of a page that were not yielded before. */
  take(items: readonly Log[]): readonly Log[] {
    const fresh = this.#repeated.size === 0 ? items : items.filter((log) => !this.#isRepeated(log));
    for (const log of fresh) this.#pass(log);
    return fresh;
  }

  /** Returns the filter for the rest of the list. */
  rest(filter: LogFilter, expired: SvcError): LogFilter {
    if (this.#direction === 'none' || (this.#hasStart && this.#direction === 'unknown'))
      throw expired.with({
        code: 'truncated',
        message: 'the cursor expired, and the entries are in no order to resume by',
        hint: 'Run it again for shorter time ranges.',
        next: undefined,
        retryable: false,
      });
    this.#repeated = countByKey([...this.#given, ...this.#timeless].map(entryOf));
    const second = this.#second ?? 0;
    if (this.#direction === 'older') return { ...filter, endDate: isoTime(second + SECOND_MS) };
    return this.#direction === 'newer' ? { ...filter, startDate: isoTime(second) } : filter;
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
        else this.#direction = 'none';
        return;
      }
      this.#last = log.created_at;
      this.#moveTo(wholeSecond(at));
    }
    this.#given.push(log);
  }

  #moveTo(second: number): void {
    if (second === this.#second) return;
    if (this.#second !== undefined) {
      const step = second < this.#second ? 'older' : 'newer';
      if (this.#direction === 'unknown') this.#direction = step;
      else if (this.#direction !== step) this.#direction = 'none';
    }
    this.#second = second;
    this.#given = [];
  }
}
