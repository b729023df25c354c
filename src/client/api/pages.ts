// Reads lists page by page.

import { setImmediate } from 'node:timers/promises';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { DEFAULT_PAGE_SIZE } from '../../schema/page-size.ts';
import type { CursorPage } from '../../schema/response.ts';
import type { HttpCore } from '../http/core.ts';
import type { ApiRequest, Shape } from '../http/request.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; undefined on the last page. */
  readonly next: string | undefined;
  /** Why the list cannot end with this page, although no page follows; thrown after its items. */
  readonly brokenOff?: SvcError | undefined;
  /** Whether an empty page repeats the cursor that requested it, which ends the list. */
  readonly repeatsCursor?: boolean;
  /** Whether the service ignored the requested time, so that entries outside it were left out. */
  readonly isSifted?: boolean;
}

/** Reads the page at a cursor; without a cursor, the first page. */
export type ReadPage<T> = (cursor: string | undefined) => Promise<Page<T>>;

/** How many empty pages in a row are accepted. Some services send an empty page for each time range without items. */
const MAX_EMPTY = 1_000;

/**
 * The items of a list, read page by page on demand. Iterating again starts over. Page numbers count as cursors.
 * @throws SvcError `truncated` if the service repeats a cursor, or sends too many empty pages; `bad_response` after a full page
 *   that does not say whether another page follows, or if a list of numbered pages ends before its number of items
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: ReadPage<T>;
  readonly #start: string | undefined;
  readonly #isAhead: boolean;

  constructor(read: ReadPage<T>, { start, isAhead = false }: Pick<PageOptions, 'start' | 'isAhead'> = {}) {
    this.#read = read;
    this.#start = start;
    this.#isAhead = isAhead;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Reads the first `count` items, or more if a page has more. One page is usually enough, but pages may be short or empty. */
  async first(count: number): Promise<readonly T[]> {
    const items: T[] = [];
    for await (const page of this.pages()) {
      items.push(...page.items);
      if (items.length >= count) break;
    }
    return items;
  }

  /** Yields the pages. An empty page ends the list only if it has no cursor, or repeats the cursor that requested it. */
  async *pages(): AsyncGenerator<Page<T>> {
    const seen = new Set<string | undefined>();
    let cursor = this.#start;
    let ahead: Promise<Page<T>> | undefined;
    for (let empty = 0; ;) {
      if (seen.has(cursor)) throw endless(`the service gave the same cursor twice after ${seen.size} pages`);
      seen.add(cursor);
      const page = ended(await (ahead ?? this.#read(cursor)), cursor);
      ahead = this.#isAhead && page.next !== undefined && !seen.has(page.next) ? this.#read(page.next) : undefined;
      // A failure is thrown when the page is needed, so it must not count as unhandled before.
      ahead?.catch(() => undefined);
      // undici needs a turn of the event loop to send the request before work on this page blocks the loop.
      if (ahead) await setImmediate().then(() => setImmediate());
      yield page;
      if (page.next === undefined && page.brokenOff) throw page.brokenOff;
      if (page.next === undefined) return;
      empty = page.items.length === 0 ? empty + 1 : 0;
      if (empty >= MAX_EMPTY)
        throw endless('the service sent 1,000 empty pages in a row, each with a cursor for another', MAX_EMPTY);
      cursor = page.next;
    }
  }
}

/** Ends the list at an empty page that repeats the cursor of its request, which is how some services end a list. */
function ended<T>(page: Page<T>, cursor: string | undefined): Page<T> {
  const isRepeated = page.items.length === 0 && page.next !== undefined && page.next === cursor;
  return isRepeated ? { ...page, next: undefined, repeatsCursor: true } : page;
}

const CURSOR_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 410, 422]);

/** The error for a cursor that the service sent with an earlier page and now refuses. */
export class CursorRefused extends SvcError {
  constructor(refusal: SvcError) {
    const { message, status, requestId, facts } = refusal;
    super('bad_response', `the list broke off before its end: ${message}`, {
      status,
      requestId,
      facts,
      hint: 'The service refuses a cursor that it sent with the page before. Run the same command again.',
      retryable: true,
      cause: refusal,
    });
  }
}

function endUnknown(): SvcError {
  return new SvcError(
    'bad_response',
    'the service sent a full page of a list, without saying whether another page follows',
    {
      hint: 'The response has no member pagination, which a proxy may have removed. Run the same command again.',
      retryable: true,
    },
  );
}

function endless(problem: string, emptyPages?: number): SvcError {
  return new SvcError('truncated', `${problem}; the list may have no end`, {
    ...(emptyPages !== undefined && { facts: { empty_pages: emptyPages } }),
    hint: 'Try again with a narrower filter. If it happens again, report it to the service.',
  });
}

/** Whether a list was given up after too many empty pages in a row. Reading the list again would take as long. */
export function isEndless(error: unknown): error is SvcError {
  return isSvcError(error, 'truncated') && error.facts?.['empty_pages'] !== undefined;
}

/** Whether a list failed because a cursor expired. A refusal of the first page, which has no cursor, has another reason. */
export function isExpiredCursor(error: unknown, pages: number): error is SvcError {
  return pages > 0 && isSvcError(error) && CURSOR_STATUSES.has(error.status);
}

/** The start of a list and the size of its pages. */
export interface PageOptions {
  /** A cursor from an earlier page. */
  readonly start?: string | undefined;
  /** Items per page, 1 to 100; the service's default is 20. */
  readonly pageSize?: number | undefined;
  /** Whether to request each page while the previous one is processed, for lists that are read to their end. */
  readonly isAhead?: boolean | undefined;
}

/** The request for any page of a list. */
export type ListRequest<T> = Omit<ApiRequest<unknown>, 'method' | 'shape'> & {
  readonly shape: () => Promise<Shape<CursorPage<T>>>;
};

/**
 * Lists items by cursor. `read` converts the parsed items of a page; it also gets the text of the page, and the bytes if they
 * are not all UTF-8.
 * @throws CursorRefused when the service refuses a cursor of an earlier page
 */
export function cursorPages<T, Item>(
  core: HttpCore,
  options: PageOptions,
  request: ListRequest<T>,
  read: (items: readonly T[], text: string, bytes: Buffer | undefined) => readonly Item[],
): Pages<Item> {
  return new Pages(async (cursor) => {
    const reading = core.callWithText(pageRequest(request, { ...options, start: cursor }));
    const {
      value: page,
      text,
      bytes,
    } = await reading.catch((error: unknown) => {
      const isRefused = cursor !== options.start && isSvcError(error) && CURSOR_STATUSES.has(error.status);
      throw isRefused ? new CursorRefused(error) : error;
    });
    const { data, pagination } = page;
    const isEndUnknown = !pagination && data.length >= (options.pageSize ?? DEFAULT_PAGE_SIZE);
    // At the end `next` may be null, empty or absent.
    const brokenOff = isEndUnknown ? endUnknown() : undefined;
    return { items: read(data, text, bytes), next: pagination?.next || undefined, brokenOff };
  }, options);
}

export function pageRequest<T>(request: ListRequest<T>, { start, pageSize }: PageOptions): ApiRequest<CursorPage<T>> {
  return { ...request, method: 'GET', query: { ...request.query, start, size: pageSize } };
}
