import type { LogFilter, Logs } from '../api/logs.ts';
import type { Page, PageOptions } from '../api/pages.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { isoTime, parseTime } from '../output/time.ts';
import type { Log } from '../schema/log.ts';
import { entryOf, SECOND_MS, wholeSecond } from './entry.ts';
import { isExpiredCursor } from './read-window.ts';

const MOST_RESTARTS = 20;
/** Entries without a time that are kept to know them again. */
const MOST_TIMELESS = 10_000;

/**
 * The pages of a list of logs in the service's order. When the cursor expires on the way, the rest is asked for anew
 * from the last second given on, and what was given of that second is dropped: nothing is lost or doubled (R27).
 * `onRestart` is told that: the cursors that follow belong to a narrower list.
 * @throws SvcError `truncated` where the entries are in no order of time, so that nobody can say what the rest is
 */
export async function* steadyPages(
  logs: Pick<Logs, 'list'>,
  filter: LogFilter,
  options: PageOptions & { readonly onRestart?: (() => void) | undefined },
): AsyncGenerator<Page<Log>> {
  const place = new ListPosition(options.start !== undefined);
  let asked = filter;
  let { start } = options;
  for (let restart = 0; ;) {
    let pages = 0;
    try {
      for await (const { items, next } of logs.list(asked, { ...options, start }).pages()) {
        pages += 1;
        const fresh = place.take(items);
        if (fresh.length > 0) restart = 0;
        yield { items: fresh, next };
      }
      return;
    } catch (error) {
      restart += 1;
      // A cursor that leads to itself would do so again.
      const isExpired = isExpiredCursor(error, pages) && !isSvcError(error, 'truncated');
      if (!isExpired || restart > MOST_RESTARTS) throw error;
      asked = { ...filter, ...place.rest(filter, error) };
      start = undefined;
      options.onRestart?.();
    }
  }
}

/** How far a list has been given, if it is in order of time. */
class ListPosition {
  readonly #beganWithin: boolean;
  #direction: 'unknown' | 'older' | 'newer' | 'none' = 'unknown';
  #last: string | undefined;
  #second: number | undefined;
  /** What was given of that second. */
  #given: Log[] = [];
  /** What was given without a time, which may come wherever the service puts it. */
  readonly #timeless: Log[] = [];
  /** How many of each entry of that second come once more. */
  #again = new Map<string, number>();

  constructor(beganWithin: boolean) {
    this.#beganWithin = beganWithin;
  }

  /** Those of a page's entries that were not given before. */
  take(items: readonly Log[]): readonly Log[] {
    const fresh = this.#again.size === 0 ? items : items.filter((log) => !this.#isAgain(log));
    for (const log of fresh) this.#pass(log);
    return fresh;
  }

  /** What to ask for to get the rest. */
  rest({ startDate, endDate }: LogFilter, cause: unknown): Pick<LogFilter, 'startDate' | 'endDate'> {
    const isPart = this.#beganWithin && this.#direction === 'unknown';
    if (this.#direction === 'none' || isPart) throw noOrder(cause);
    this.#again = new Map();
    for (const log of [...this.#given, ...this.#timeless]) {
      const { key } = entryOf(log);
      this.#again.set(key, (this.#again.get(key) ?? 0) + 1);
    }
    const second = this.#second ?? 0;
    if (this.#direction === 'older') return { startDate, endDate: isoTime(second + SECOND_MS) };
    return this.#direction === 'newer' ? { startDate: isoTime(second), endDate } : { startDate, endDate };
  }

  #isAgain(log: Log): boolean {
    const { key } = entryOf(log);
    const left = this.#again.get(key) ?? 0;
    if (left > 1) this.#again.set(key, left - 1);
    else this.#again.delete(key);
    return left > 0;
  }

  #pass(log: Log): void {
    if (log.created_at !== this.#last) {
      const at = parseTime(log.created_at);
      if (at === undefined) {
        if (this.#timeless.length < MOST_TIMELESS) this.#timeless.push(log);
        else this.#direction = 'none';
        return;
      }
      this.#last = log.created_at;
      this.#move(wholeSecond(at));
    }
    this.#given.push(log);
  }

  #move(second: number): void {
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

function noOrder(cause: unknown): SvcError {
  return new SvcError('truncated', 'the cursor expired, and the entries are in no order to go on by', {
    hint: 'Run it again for shorter stretches of time, with --since and --until.',
    cause,
  });
}
