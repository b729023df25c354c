import type { Context } from '../../cli/app/command.ts';
import { type ListProgress, newListProgress, takePage } from '../../cli/app/print.ts';
import { countText, parseTime, wholeSecond } from '../../cli/output/time.ts';
import type { Page } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import { MalformedEntries } from '../malformed-entries.ts';

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
