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

type ListRequest<T> = Omit<ApiRequest<unknown>, 'method' | 'shape'> & {
  readonly shape: () => Promise<Shape<CursorPage<T>>>;
};

/** A list in the cursor style: `start` and `size` go out, `pagination.next` comes back, byte for byte. */
export function cursorPages<T>(core: HttpCore, options: PageOptions, request: ListRequest<T>): Pages<T> {
  return new Pages(async (cursor) => {
    const query = { ...request.query, start: cursor, size: options.pageSize };
    const page = await core.call({ ...request, method: 'GET', query });
    // At the end `next` may be null, empty or absent.
    return { items: page.data, next: page.pagination?.next || undefined };
  }, options.start);
}
