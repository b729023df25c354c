import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../schema/page-size.ts';
import type { SandboxOptions } from './options.ts';
import { invalid } from './problem.ts';
import { mix } from './seed/random.ts';

/** Reads `size`: 1 to 100, 20 by default. */
export function pageSize(query: URLSearchParams): number {
  return wholeNumber(query, 'size', DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
}

/** Reads `page`, counted from 1. */
export function pageNumber(query: URLSearchParams): number {
  return wholeNumber(query, 'page', 1, Number.MAX_SAFE_INTEGER);
}

// A cursor begins with characters that must be escaped in a query, and ends with a checksum. A client that does not return a
// cursor byte for byte gets a 400.
const CURSOR_MARK = '+/+/';

/**
 * Returns the name of a list in its cursors. With strict cursors, the name includes the filters and page size of the request,
 * so that another request cannot use the cursor.
 */
export function cursorList(list: string, query: URLSearchParams, { cursors }: SandboxOptions): string {
  if (cursors !== 'strict') return list;
  const filters = [...query].filter(([name, value]) => name !== 'start' && name !== 'size' && value !== '');
  return `${list}~${checksumOf(JSON.stringify([pageSize(query), ...filters.map(String).toSorted()]))}`;
}

/** Writes the cursor at which a list continues. */
export function writeCursor(list: string, positions: readonly number[]): string {
  const text = [list, ...positions].join(':');
  return CURSOR_MARK + Buffer.from(`${text}:${checksumOf(text)}`).toString('base64');
}

/** Reads the cursor in `start`; undefined without `start`. Throws a 400 for a cursor that `writeCursor` did not write. */
export function readCursor(query: URLSearchParams, list: string): readonly number[] | undefined {
  const cursor = query.get('start');
  if (cursor === null || cursor === '') return undefined;
  const text = Buffer.from(cursor.slice(CURSOR_MARK.length), 'base64').toString();
  const [name, ...numbers] = text.split(':');
  const positions = numbers.slice(0, -1).map(Number);
  if (name !== list || !positions.every(Number.isSafeInteger) || writeCursor(list, positions) !== cursor)
    throw invalid('start', 'The cursor is not valid.');
  return positions;
}

/** Returns the body of a page with a cursor; `next` is null on the last page. */
export function cursorPage<Item>(data: readonly Item[], size: number, next: string | undefined) {
  return { pagination: { next: next ?? null, page_size: size }, data };
}

/** Returns the body of a page with a number; empty beyond the last page. */
export function offsetPage<Item>(items: readonly Item[], page: number, size: number) {
  const total = items.length;
  const pagination = { total_items: total, page_number: page, page_size: size, total_pages: Math.ceil(total / size) };
  return { pagination, data: items.slice((page - 1) * size, page * size) };
}

function wholeNumber(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    throw invalid(name, max === MAX_PAGE_SIZE ? `Must be between 1 and ${max}.` : 'Must be at least 1.');
  return value;
}

/** Returns the checksum of a text. */
function checksumOf(text: string): string {
  let check = 0;
  for (const byte of Buffer.from(text)) check = mix(check, byte);
  return check.toString(36);
}
