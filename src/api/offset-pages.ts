import type { HttpCore } from '../http/core.ts';
import type { ApiRequest, Shape } from '../http/request.ts';
import type { OffsetPage } from '../schema/pagination.ts';
import { Pages } from './pages.ts';

type ListRequest<T> = Omit<ApiRequest<unknown>, 'method' | 'shape'> & {
  readonly shape: Shape<OffsetPage<T>>;
};

/** A list in the offset style: `page` and `size` go out, `pagination.total_pages` comes back. The first page is 1. */
export function offsetPages<T>(
  core: HttpCore,
  request: ListRequest<T>,
  pageSize?: number,
  firstPage = 1,
): Pages<T> {
  return new Pages(async (cursor) => {
    const number = Number(cursor ?? firstPage);
    const query = { ...request.query, page: number, size: pageSize };
    const page = await core.call({ ...request, method: 'GET', query });
    const total = page.pagination?.total_pages;
    // Without a total the end is the first empty page.
    const more = total === undefined || total === null ? page.data.length > 0 : number < total;
    return { items: page.data, next: more ? String(number + 1) : undefined };
  });
}
