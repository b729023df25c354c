import { setImmediate } from 'node:timers/promises';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { CursorPage } from '../../schema/response.ts';
import type { HttpCore } from '../http/core.ts';
import type { ApiRequest, Shape } from '../http/request.ts';

/** One page as a list endpoint gives it. `next` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Reads one page; no cursor means the first. */
export type ReadPage<T> = (cursor: string | undefined) => Promise<Page<T>>;

/** Pages in a row that may be empty: some services look for matches one time range after the other. */
const MAX_EMPTY = 1_000;

/**
 * All items of a list, read a page at a time and only when requested. Iterating again starts again. Page numbers are
 * written as cursors.
 * @throws SvcError `truncated` when the service repeats a cursor, or sends empty pages one after the other
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

  /** The pages themselves. An empty page with a next cursor is not the end. */
  async *pages(): AsyncGenerator<Page<T>> {
    const seen = new Set<string | undefined>();
    let cursor = this.#start;
    let ahead: Promise<Page<T>> | undefined;
    for (let empty = 0; ;) {
      if (seen.has(cursor)) throw endless(`the service gave the same cursor twice after ${seen.size} pages`);
      seen.add(cursor);
      const page = await (ahead ?? this.#read(cursor));
      ahead = this.#isAhead && page.next !== undefined && !seen.has(page.next) ? this.#read(page.next) : undefined;
      // Reported when its turn comes, if it does.
      ahead?.catch(() => undefined);
      // It is sent, which takes undici a turn of the loop, before this page is worked on.
      if (ahead) await setImmediate().then(() => setImmediate());
      yield page;
      if (page.next === undefined) return;
      empty = page.items.length === 0 ? empty + 1 : 0;
      if (empty >= MAX_EMPTY)
        throw endless(`the service sent ${MAX_EMPTY} empty pages in a row, each with a cursor for another`);
      cursor = page.next;
    }
  }
}

function endless(problem: string): SvcError {
  return new SvcError('truncated', `${problem}; the list may have no end`, {
    hint: 'Try again with a narrower filter. If it happens again, report it to the service.',
  });
}

/** Whether a list broke off because its cursor expired. The first page sends none: there a refusal means what it says. */
export function isExpiredCursor(error: unknown, pages: number): boolean {
  if (pages === 0) return false;
  if (isSvcError(error, 'truncated')) return true;
  return isSvcError(error) && [400, 404, 410, 422].includes(error.status ?? 0);
}

/** Where to begin and how much to ask for at once. */
export interface PageOptions {
  /** A cursor from an earlier page. */
  readonly start?: string | undefined;
  /** Items a page, 1 to 100; the service's own default is 20. */
  readonly pageSize?: number | undefined;
  /** Requests each page while the one before is worked on: for a list that is read to its end. */
  readonly isAhead?: boolean | undefined;
}

/** The request of a list, whichever page of it. */
export type ListRequest<T> = Omit<ApiRequest<unknown>, 'method' | 'shape'> & {
  readonly shape: () => Promise<Shape<CursorPage<T>>>;
};

/** A list in the cursor style; `read` makes the items from what the shape gives and the text of the page. */
export function cursorPages<T, Item>(
  core: HttpCore,
  options: PageOptions,
  request: ListRequest<T>,
  read: (items: readonly T[], text: string) => readonly Item[],
): Pages<Item> {
  return new Pages(async (cursor) => {
    const { value: page, text } = await core.callWithText(pageRequest(request, { ...options, start: cursor }));
    // At the end `next` may be null, empty or absent.
    return { items: read(page.data, text), next: page.pagination?.next || undefined };
  }, options);
}

export function pageRequest<T>(request: ListRequest<T>, { start, pageSize }: PageOptions): ApiRequest<CursorPage<T>> {
  return { ...request, method: 'GET', query: { ...request.query, start, size: pageSize } };
}
