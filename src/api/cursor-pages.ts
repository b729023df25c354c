import type { HttpCore } from '../http/core.ts';
import type { ApiRequest, Shape } from '../http/request.ts';
import type { CursorPage } from '../schema/pagination.ts';
import { Pages } from './pages.ts';

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
