import type { Page } from '../api/pages.ts';
import { SvcError } from '../errors.ts';
import type { Context } from './context.ts';
import { flag, type Input, value } from './parameter.ts';
import { integer, text } from './values.ts';

/** The options of every list in the cursor style. */
export const PAGING_PARAMETERS = {
  limit: value('-n, --limit <n>', 'stop after this many', integer(1)),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'go on from a cursor that an earlier run gave', text),
  pageSize: value('--page-size <n>', 'how many to ask for at once, 1 to 100', integer(1, 100)),
} as const;

/** What was given of {@link PAGING_PARAMETERS}. */
export type PagingInput = Input<typeof PAGING_PARAMETERS>;

/** What has become of a list so far. */
export interface Seen {
  read: number;
  shown: number;
  /** Whether items are left that were not shown. */
  more: boolean;
  /** The cursor that goes on exactly behind the last item shown, where there is one. */
  next: string | undefined;
}

/** A list of which nothing has been read. */
export function nothingSeen(): Seen {
  return { read: 0, shown: 0, more: false, next: undefined };
}

/** Refuses options that contradict each other, before anything is asked of the service. */
export function checkPaging(input: PagingInput): void {
  if (input.limit === undefined || !input.all) return;
  throw new SvcError('usage', '--limit and --all exclude each other', { hint: 'Give one of them.' });
}

/** How many to ask for at once. `filtered`: items are also dropped here, so that few of a page may be shown. */
export function pageSizeFor(input: PagingInput, filtered = false): number | undefined {
  if (input.pageSize !== undefined) return input.pageSize;
  if (input.all || filtered) return 100;
  // Equal pages that end at the limit, so that the next cursor goes on just behind it.
  return input.limit === undefined ? undefined : Math.ceil(input.limit / Math.ceil(input.limit / 100));
}

/** The items that are wanted, page by page: the first page only, or up to the limit, or all. Counts into `seen`. */
export async function* wanted<T>(
  pages: AsyncIterable<Page<T>>,
  input: PagingInput,
  seen: Seen,
  keep: (item: T) => boolean = () => true,
): AsyncGenerator<readonly T[]> {
  const limit = input.limit ?? (input.all ? Infinity : undefined);
  for await (const page of pages) {
    const kept = page.items.filter(keep);
    const batch = limit === undefined ? kept : kept.slice(0, limit - seen.shown);
    seen.read += page.items.length;
    seen.shown += batch.length;
    seen.more = page.next !== undefined || batch.length < kept.length;
    // The cursor of a page that was shown in part would skip the rest of it.
    seen.next = batch.length < kept.length ? undefined : page.next;
    yield batch;
    if (limit === undefined || seen.shown >= limit) return;
  }
}

/** Says on stderr what an empty list means, and how to go on where more is left. */
export function tellRest({ notices }: Context, seen: Seen, nothing: string): void {
  if (seen.shown === 0) notices.note(nothing);
  if (!seen.more) return;
  const goOn = seen.next === undefined ? 'a larger --limit' : `--start '${seen.next}' to go on`;
  notices.note(`more follow: --all for every page, or ${goOn}`);
}
