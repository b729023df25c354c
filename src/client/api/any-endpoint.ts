// Calls endpoints without a typed method (`svc api`).

import { SvcError } from '../../base/errors.ts';
import { exactItem } from '../../base/json/exact.ts';
import { listSource } from '../../base/json/source.ts';
import { objectOrUndefined } from '../../schema/json-value.ts';
import { Endpoints } from '../http/core.ts';
import type { ApiRequest, Query } from '../http/request.ts';
import type { AnyResponse, JsonBody } from '../http/response.ts';
import { type Page, Pages } from './pages.ts';

export type AnyRequest = Pick<
  ApiRequest<unknown>,
  'method' | 'path' | 'query' | 'body' | 'key' | 'whenUnclear' | 'permission' | 'attempts'
>;

export class AnyEndpoint extends Endpoints {
  /** Sends a request. Repeats a GET after a failure, and any other request only if it certainly had no effect. */
  send(request: AnyRequest): Promise<AnyResponse> {
    return this.core.callAny(request);
  }

  /**
   * Lists items page by page, by the cursors or page numbers of the responses. An array without pagination is a single page.
   * @throws SvcError `bad_response` for a response that is no list
   */
  pages(
    request: Omit<AnyRequest, 'method' | 'body'>,
    onResponse: (response: AnyResponse) => void = () => undefined,
  ): Pages<unknown> {
    let read = 0;
    // The cursor includes the name of its query parameter: `start=…` or `page=…`.
    return new Pages(async (cursor) => {
      const query = { ...request.query, ...(cursor === undefined ? {} : queryFrom(cursor)) };
      const response = await this.core.callAny({ ...request, method: 'GET', query });
      onResponse(response);
      const page = response.body && pageIn(response.body, query);
      if (page === undefined) throw unreadableList(request.path, response.status, 'is not a list');
      if (!('unreadable' in page)) {
        read = (cursor === undefined ? 0 : read) + page.items.length;
        // A total may count what a filter leaves out, and what is before the first page.
        const isWhole = Object.keys(request.query ?? {}).every((name) => name === 'size');
        return isWhole ? { ...page, brokenOff: tooShort(request.path, read, response) } : page;
      }
      const problem = `has a pagination.${page.unreadable} of another type than documented, so that its end is unknown`;
      throw unreadableList(request.path, response.status, problem);
    });
  }
}

/** Returns the items of a list response, each with its original text; undefined for anything else. */
export function itemsIn({ json, text }: JsonBody): readonly unknown[] | undefined {
  const data = Array.isArray(json) ? json : objectOrUndefined(json)?.['data'];
  if (!Array.isArray(data)) return undefined;
  return listSource(text)?.items.map((source, at) => exactItem(data[at], source));
}

/** Whether the list continues after this page, or its end is unknown. */
export function hasMore(body: JsonBody): boolean {
  const page = pageIn(body, {});
  return page !== undefined && ('unreadable' in page || page.next !== undefined);
}

/** Reads a page. The page is unreadable if a member of `pagination` has another type than documented. */
function pageIn(body: JsonBody, query: Query): Page<unknown> | { readonly unreadable: string } | undefined {
  const items = itemsIn(body);
  if (items === undefined) return undefined;
  const pagination = objectOrUndefined(objectOrUndefined(body.json)?.['pagination']) ?? {};
  const { next, page_number: pageNumber, total_pages: totalPages, total_items: totalItems } = pagination;
  if (typeof next === 'string' && next !== '') return { items, next: `start=${next}` };
  const malformed = ['page_number', 'total_pages'].find((name) => typeof (pagination[name] ?? 0) !== 'number');
  if (malformed !== undefined || (next ?? '') !== '') return { unreadable: malformed ?? 'next' };
  const isPaged = typeof pageNumber === 'number' || typeof totalPages === 'number';
  const hasAll = typeof totalItems !== 'number' || totalItems <= items.length;
  if (!isPaged && hasAll) return { items, next: undefined };
  const current = typeof pageNumber === 'number' ? pageNumber : Number(query['page'] ?? 1);
  // Without a total, the list ends with the first empty page.
  const hasNext = typeof totalPages === 'number' ? current < totalPages : items.length > 0;
  return { items, next: hasNext ? `page=${current + 1}` : undefined };
}

/** Returns the error for a list that ends after `read` items, if its last page says that it has more. */
function tooShort(path: string, read: number, { status, body }: AnyResponse): SvcError | undefined {
  const total = objectOrUndefined(objectOrUndefined(body?.json)?.['pagination'])?.['total_items'];
  if (typeof total !== 'number' || read >= total) return undefined;
  return new SvcError('bad_response', `the list of GET ${path} ended after ${read} of its ${total} items`, {
    status,
    hint: 'It may have changed while it was read. Run the same command again.',
    retryable: true,
  });
}

function unreadableList(path: string, status: number, problem: string): SvcError {
  return new SvcError('bad_response', `the response to GET ${path} ${problem}`, {
    status,
    hint: 'Request it without paging to see it.',
  });
}

function queryFrom(cursor: string): Query {
  const at = cursor.indexOf('=');
  return { [cursor.slice(0, at)]: cursor.slice(at + 1) };
}
