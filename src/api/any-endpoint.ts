import { SvcError } from '../errors.ts';
import { exactItem } from '../exact-json.ts';
import type { AnyAnswer, JsonBody } from '../http/any-answer.ts';
import type { HttpCore } from '../http/core.ts';
import type { ApiRequest, Query } from '../http/request.ts';
import { listSource } from '../json-source.ts';
import { type Page, Pages } from './pages.ts';

/** A request to any endpoint, described or not. */
export type AnyRequest = Pick<
  ApiRequest<unknown>,
  'method' | 'path' | 'query' | 'body' | 'key' | 'howToCheck' | 'permission' | 'attempts'
>;

/** Endpoints that no resource describes, with the same key, retries, pacing and errors. */
export class AnyEndpoint {
  readonly #core: HttpCore;

  constructor(core: HttpCore) {
    this.#core = core;
  }

  /** Sends a request. Only GET is repeated freely; others when they surely had no effect. */
  send(request: AnyRequest): Promise<AnyAnswer> {
    return this.#core.callAny(request);
  }

  /**
   * The items of a list, page by page; the style (cursors or page numbers) is read off each answer. A bare array is
   * a list of one page. `onAnswer` sees every answer.
   * @throws SvcError `bad_answer` for an answer that is no list
   */
  pages(
    request: Omit<AnyRequest, 'method' | 'body'>,
    onAnswer: (answer: AnyAnswer) => void = () => undefined,
  ): Pages<unknown> {
    // The cursor of the pages carries its parameter with it: `start=…` or `page=…`.
    return new Pages(async (cursor) => {
      const query = { ...request.query, ...(cursor === undefined ? {} : queryFrom(cursor)) };
      const answer = await this.#core.callAny({ ...request, method: 'GET', query });
      onAnswer(answer);
      const page = answer.body && pageIn(answer.body, query);
      if (page) return page;
      throw new SvcError('bad_answer', `the answer to GET ${request.path} is not a list`, {
        status: answer.status,
        hint: 'Leave --paginate out to see it.',
      });
    });
  }
}

/** The items of a list answer, each with the text that it was sent as; undefined for anything else. */
export function itemsIn({ json, text }: JsonBody): readonly unknown[] | undefined {
  const data = Array.isArray(json) ? json : asRecord(json)?.['data'];
  if (!Array.isArray(data)) return undefined;
  return listSource(text)?.items.map((source, at) => exactItem(data[at], source));
}

/** Whether a list answer says that more follow. */
export function hasMore(body: JsonBody): boolean {
  return pageIn(body, {})?.next !== undefined;
}

function pageIn(body: JsonBody, query: Query): Page<unknown> | undefined {
  const items = itemsIn(body);
  if (items === undefined) return undefined;
  const pagination = asRecord(asRecord(body.json)?.['pagination']) ?? {};
  const { next, page_number: number, total_pages: total } = pagination;
  if (typeof next === 'string' && next !== '') return { items, next: `start=${next}` };
  if (typeof number !== 'number' && typeof total !== 'number') return { items, next: undefined };
  const current = typeof number === 'number' ? number : Number(query['page'] ?? 1);
  // Without a total the end is the first empty page.
  const more = typeof total === 'number' ? current < total : items.length > 0;
  return { items, next: more ? `page=${current + 1}` : undefined };
}

function queryFrom(cursor: string): Query {
  const at = cursor.indexOf('=');
  return { [cursor.slice(0, at)]: cursor.slice(at + 1) };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
