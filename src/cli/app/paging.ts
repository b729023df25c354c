// The paging options of commands that list, and the pages of a list up to a limit.

import type { Page } from '../../client/api/pages.ts';
import type { Context } from './command.ts';
import { option, typedCommand } from './hint.ts';
import { conflicting, type Input, value, flag, rare } from './parameter.ts';
import { cursor, integer } from './value-parsers.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

/** The paging options of commands that list. */
export const PAGING_PARAMETERS = {
  limit: conflicting(['all'], value('-n, --limit <n>', 'stop after this many', integer(1))),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'resume from the cursor of an earlier run', cursor),
  pageSize: rare(value('--page-size <n>', `items per request, 1 to ${MAX_PAGE_SIZE}`, integer(1, MAX_PAGE_SIZE))),
} as const;

export type PagingInput = Input<typeof PAGING_PARAMETERS>;

/** Returns the paging options as words that continue at a cursor, which is valid only with the same page size. */
export function pagingWords({ limit, all, pageSize }: PagingInput, start: string | undefined): string[] {
  return [
    ...option('--limit', limit?.toString()),
    ...(all ? ['--all'] : []),
    ...option('--page-size', pageSize?.toString()),
    ...option('--start', start),
  ];
}

/** How far a list was read and shown. */
export interface ListProgress {
  read: number;
  shown: number;
  /** Whether some items were not shown. */
  more: boolean;
  /** The cursor that resumes exactly after the last item shown, if any. */
  next: string | undefined;
}

export function newListProgress(): ListProgress {
  return { read: 0, shown: 0, more: false, next: undefined };
}

/** Returns the number of items per request. With `filtered`, only few items of a page may match. */
export function pageSizeFor(input: PagingInput, filtered = false): number | undefined {
  if (input.pageSize !== undefined) return input.pageSize;
  if (input.all || filtered) return 100;
  // Equal pages end exactly at the limit, so that the next cursor points just after the last item shown.
  return input.limit === undefined ? undefined : Math.ceil(input.limit / Math.ceil(input.limit / 100));
}

/**
 * Yields items page by page: the first page, up to the limit, or all. Stops once `mostRead` items were read. Counts the items
 * in `progress`.
 */
export async function* limitedPages<T>(
  pages: AsyncIterable<Page<T>>,
  input: { readonly limit: number | undefined; readonly all?: boolean; readonly mostRead?: number },
  progress: ListProgress,
  keep: (item: T) => boolean = () => true,
): AsyncGenerator<readonly T[]> {
  const limit = input.limit ?? (input.all ? Infinity : undefined);
  for await (const page of pages) {
    const { batch, isLast } = takePage(page, { limit, mostRead: input.mostRead }, progress, keep);
    yield batch;
    if (isLast) return;
  }
}

/** Takes the items to show from a page, and counts them in `progress`. Without a limit, the first page with items is the last. */
export function takePage<T>(
  { items, next }: Page<T>,
  { limit, mostRead = Infinity }: { readonly limit: number | undefined; readonly mostRead?: number | undefined },
  progress: ListProgress,
  keep: (item: T) => boolean,
): { readonly batch: readonly T[]; readonly isLast: boolean } {
  const kept = items.filter(keep);
  const batch = limit === undefined ? kept : kept.slice(0, limit - progress.shown);
  progress.read += items.length;
  progress.shown += batch.length;
  progress.more = next !== undefined || batch.length < kept.length;
  // The cursor of a page that was shown only in part would skip the remaining items.
  progress.next = batch.length < kept.length ? undefined : next;
  const isEnough = limit === undefined ? items.length > 0 : progress.shown >= limit;
  return { batch, isLast: isEnough || progress.read >= mostRead };
}

/** Reports on stderr that a list is empty, or how to get the rest of a list that was cut before `limit` items. */
export function reportRest(
  context: Context,
  progress: ListProgress,
  { nothing, limit = Infinity, wordsFrom }: RestOfList,
): void {
  const { notices, out } = context;
  if (progress.shown === 0) notices.note(nothing);
  if (!progress.more || progress.shown >= limit) return;
  // On a terminal a cursor would fill two lines.
  if (progress.next === undefined || out.isTerminal) return notices.note('more results: use --all or a larger --limit');
  notices.note('more results:');
  notices.command(typedCommand(wordsFrom(progress.next), context.globals, context.system));
}

interface RestOfList {
  /** The note for an empty list. */
  readonly nothing: string;
  /** The number of items that the operator requested. */
  readonly limit: number | undefined;
  /** Returns the command that continues at a cursor. */
  readonly wordsFrom: (start: string) => readonly string[];
}
