import { SvcError } from '../errors.ts';
import type { HttpCore } from '../http/core.ts';
import type { ApiRequest, Shape } from '../http/request.ts';
import type { CursorPage } from '../schema/response.ts';

/** One page as a list endpoint gives it. `next` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Reads one page; no cursor means the first. */
export type ReadPage<T> = (cursor: string | undefined) => Promise<Page<T>>;

/** Pages in a row that may be empty: some services look for matches a stretch at a time. */
const MOST_EMPTY = 1_000;

/**
 * All items of a list, read a page at a time and only when asked for. Iterating again starts again.
 * Both styles of the service come here: cursors, and page numbers written as cursors.
 * @throws SvcError `truncated` when the service gives the same cursor twice, or pages without an item one after the
 * other: going on might never end
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: ReadPage<T>;
  readonly #start: string | undefined;

  constructor(read: ReadPage<T>, start?: string) {
    this.#read = read;
    this.#start = start;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** The pages themselves. An empty page with a next cursor is not the end. */
  async *pages(): AsyncGenerator<Page<T>> {
    const seen = new Set<string>();
    let cursor = this.#start;
    for (let empty = 0; ;) {
      if (cursor !== undefined) remember(seen, cursor);
      const page = await this.#read(cursor);
      yield page;
      if (page.next === undefined) return;
      empty = page.items.length === 0 ? empty + 1 : 0;
      if (empty >= MOST_EMPTY) throw neverEnding();
      cursor = page.next;
    }
  }
}

function remember(seen: Set<string>, cursor: string): void {
  if (!seen.has(cursor)) {
    seen.add(cursor);
    return;
  }
  throw new SvcError(
    'truncated',
    `the service gave the same cursor twice after ${seen.size} pages; the list cannot be completed`,
    {
      hint: 'Run the command again; if it happens again, tell the service.',
    },
  );
}

function neverEnding(): SvcError {
  return new SvcError(
    'truncated',
    `the service sent ${MOST_EMPTY} empty pages in a row, each with a cursor for another; the list may have no end`,
    { hint: 'Run the command again with a narrower filter; if it happens again, report it to the service.' },
  );
}

/** Where to begin and how much to ask for at once. */
export interface PageOptions {
  /** A cursor from an earlier page. */
  readonly start?: string | undefined;
  /** Items a page, 1 to 100; the service's own default is 20. */
  readonly pageSize?: number | undefined;
}

/** The request of a list, whichever page of it. */
export type ListRequest<T> = Omit<ApiRequest<unknown>, 'method' | 'shape'> & {
  readonly shape: () => Promise<Shape<CursorPage<T>>>;
};

/**
 * A list in the cursor style: `start` and `size` go out, `pagination.next` comes back, byte for byte. `read` makes
 * the items from what the shape gives and the text of the page.
 */
export function cursorPages<T, Item>(
  core: HttpCore,
  options: PageOptions,
  request: ListRequest<T>,
  read: (items: readonly T[], text: string) => readonly Item[],
): Pages<Item> {
  return new Pages(async (cursor) => {
    const { value: page, text } = await core.callWithText(
      pageRequest(request, { ...options, start: cursor }),
    );
    // At the end `next` may be null, empty or absent.
    return { items: read(page.data, text), next: page.pagination?.next || undefined };
  }, options.start);
}

export function pageRequest<T>(
  request: ListRequest<T>,
  { start, pageSize }: PageOptions,
): ApiRequest<CursorPage<T>> {
  return { ...request, method: 'GET', query: { ...request.query, start, size: pageSize } };
}
