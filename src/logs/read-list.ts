import type { Context } from '../cli/app/command.ts';
import { type ListProgress, newListProgress, takePage } from '../cli/app/print.ts';
import { countText, parseTime, wholeSecond } from '../cli/output/time.ts';
import type { Page } from '../client/api/pages.ts';
import type { Log } from '../schema/log.ts';
import { OddEntries } from './odd-entries.ts';

/** What a list has read so far: its report is made of this alone. Times are in epoch milliseconds. */
export interface ListReading extends ListProgress {
  /** The times of the oldest and the newest entry read; infinite where none has a readable time. */
  oldest: number;
  newest: number;
  /** The times of the first and the last entry read, which show the order of the list. */
  first: number | undefined;
  last: number | undefined;
  /** Whether a cursor expired and the list went on by time: its cursors are those of a narrower list. */
  isNarrower: boolean;
  readonly operations: Set<string>;
  readonly odd: OddEntries;
}

export function newListReading(): ListReading {
  return {
    ...newListProgress(),
    oldest: Infinity,
    newest: -Infinity,
    first: undefined,
    last: undefined,
    isNarrower: false,
    operations: new Set(),
    odd: new OddEntries(),
  };
}

interface ReadListOptions {
  /** How many entries to show, and how many to read for them. */
  readonly limit: number | undefined;
  readonly mostRead: number;
  readonly matches: (log: Log) => boolean;
  /** Whether few of the entries read may be shown, so that a terminal shows how far the list is. */
  readonly isFiltered: boolean;
}

/** Gives the matching entries page by page, and records in `reading` what was read, until enough were shown. */
export async function* readList(
  context: Context,
  pages: AsyncIterable<Page<Log>>,
  { limit, mostRead, matches, isFiltered }: ReadListOptions,
  reading: ListReading,
): AsyncGenerator<readonly Log[]> {
  const live = isFiltered ? context.progress.watching('logs') : undefined;
  try {
    for await (const page of pages) {
      notePage(reading, page.items);
      const { batch, isLast } = takePage(page, { limit, mostRead }, reading, matches);
      reading.odd.count(batch);
      yield batch;
      if (isLast) return;
      live?.update({ state: `${countText(reading.read, 'entry')} read` });
      // Once a terminal shows entries, they are the progress.
      if (reading.shown > 0 && context.out.isTerminal) live?.fail();
    }
  } finally {
    live?.fail();
  }
}

function notePage(reading: ListReading, items: readonly Log[]): void {
  for (const { created_at: created, operation } of items) {
    if (typeof operation === 'string') reading.operations.add(operation);
    const at = parseTime(created);
    if (at === undefined) continue;
    reading.oldest = Math.min(reading.oldest, at);
    reading.newest = Math.max(reading.newest, at);
    reading.first ??= at;
    reading.last = at;
  }
}

/**
 * Tells whether the entries shown of a longer list are its oldest. Where all entries read are of one second, their order
 * does not show, and the page after them is read too.
 */
export async function isOldestFirst(
  { first, last, more, next }: ListReading,
  pagesFrom: (start: string) => AsyncIterable<Page<Log>>,
): Promise<boolean> {
  if (!more) return false;
  const step = wholeSecond(last ?? 0) - wholeSecond(first ?? 0);
  if (step !== 0 || next === undefined) return step > 0;
  for await (const { items } of pagesFrom(next)) {
    const begin = first ?? parseTime(items[0]?.created_at ?? '') ?? 0;
    const end = parseTime(items.at(-1)?.created_at ?? '') ?? begin;
    return wholeSecond(end) > wholeSecond(begin);
  }
  return false;
}
