import type { Page } from '../../api/pages.ts';
import type { Context } from '../../app/command.ts';
import { option, typedCommand } from '../../app/hint.ts';
import { type ListProgress, type PagingInput, reportRest } from '../../app/print.ts';
import { SECOND_MS, wholeSecond } from '../../logs/entry.ts';
import { countText, isoTime, parseTime } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import {
  clientFilters,
  type EntityInput,
  type EntryInput,
  filterWords,
  type intervalOf,
  reportFiltered,
} from './entries.ts';

/** A list that is filtered here reads on until so many match, or so many were read. */
const DEFAULT_MATCHES = 100;
const MAX_READ = 20_000;

type Interval = ReturnType<typeof intervalOf>;

/** The part of the log that a list reads: how far, and what to report of it where entries are filtered here. */
export class Searched {
  /** The time of the oldest entry read, where it matters; else infinite. */
  oldest = Infinity;
  /** Whether entries are also dropped here, so that few of a page may be shown. */
  readonly isFiltered: boolean;
  readonly #input: EntryInput & EntityInput & PagingInput;
  readonly #interval: Interval;
  #newest = -Infinity;
  #first: number | undefined;
  #last: number | undefined;

  constructor(input: EntryInput & EntityInput & PagingInput, interval: Interval) {
    this.#input = input;
    this.#interval = interval;
    // An id without its type may be ignored by the service.
    const isIdOnly = input.entityId !== undefined && input.entityType === undefined;
    this.isFiltered = isIdOnly || clientFilters(input).length > 0;
  }

  /** How many entries to show and to read, for `wanted`. */
  get bounds(): { readonly limit: number | undefined; readonly mostRead: number } {
    const { limit, all } = this.#input;
    if (!this.isFiltered || all) return { limit: all ? Infinity : limit, mostRead: Infinity };
    return { limit: limit ?? DEFAULT_MATCHES, mostRead: MAX_READ };
  }

  async *noted(context: Context, pages: AsyncIterable<Page<Log>>, seen: ListProgress): AsyncGenerator<Page<Log>> {
    const live = this.isFiltered ? context.progress.watching('logs') : undefined;
    const isTimed = this.isFiltered || this.#interval.since !== undefined;
    try {
      for await (const page of pages) {
        if (isTimed) for (const log of page.items) this.#note(parseTime(log.created_at));
        yield page;
        live?.update({ state: `${countText(seen.read, 'entry')} read` });
        // What a terminal shows now moves by itself.
        if (seen.shown > 0 && context.out.isTerminal) live?.fail();
      }
    } finally {
      live?.fail();
    }
  }

  #note(at: number | undefined): void {
    if (at === undefined) return;
    this.oldest = Math.min(this.oldest, at);
    this.#newest = Math.max(this.#newest, at);
    this.#first ??= at;
    this.#last = at;
  }

  /** Reports how much was searched, what that found, and how to get the rest. */
  report(context: Context, seen: ListProgress): void {
    const isTimed = this.#first !== undefined && this.isFiltered;
    const range = isTimed ? `, from ${isoTime(this.oldest)} to ${isoTime(this.#newest)}` : '';
    const { limit = 0, mostRead } = this.bounds;
    const isEarly = seen.more && seen.read >= mostRead && seen.shown < limit;
    const rest = isEarly ? this.#restOf(seen) : undefined;
    reportFiltered(context, this.#input, seen, rest === undefined ? range : '');
    if (rest === undefined) return reportRest(context, seen, 'no log entries');
    context.notices.note(`searched ${countText(seen.read, 'entry')}${range}; to search on`);
    context.notices.command(typedCommand(rest, context.globals, context.system));
  }

  #restOf({ next }: ListProgress): string[] | undefined {
    const [first, last] = [this.#first, this.#last];
    let { since, until } = this.#interval;
    if (next === undefined) {
      // The cursors were those of a shorter list: a time has to do, and its second may come again.
      if (first === undefined || last === undefined) return undefined;
      if (last < first) until = wholeSecond(last) + SECOND_MS;
      else since = wholeSecond(last);
    }
    const { limit } = this.#input;
    return [
      'logs',
      'list',
      ...option('--since', isoTime(since)),
      ...option('--until', isoTime(until)),
      ...filterWords(this.#input),
      ...option('--limit', limit === undefined ? undefined : String(limit)),
      ...option('--start', next),
    ];
  }
}
