import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../schema/pagination.ts';
import type { QueryParameter } from './route.ts';

const SIZE = queryParameter('size', 'most results a page', {
  type: 'integer',
  minimum: 1,
  maximum: MAX_PAGE_SIZE,
  default: DEFAULT_PAGE_SIZE,
});

/** The query of a list that is paged by cursor. */
export const CURSOR_QUERY: readonly QueryParameter[] = [
  queryParameter('start', 'cursor: pagination.next of the page before'),
  SIZE,
];

/** The query of a list that is paged by number. */
export const OFFSET_QUERY: readonly QueryParameter[] = [
  queryParameter('page', 'page number', { type: 'integer', minimum: 1, default: 1 }),
  SIZE,
];

/** Describes a parameter of a query; text unless the schema says otherwise. */
export function queryParameter(
  name: string,
  description: string,
  schema: QueryParameter['schema'] = { type: 'string' },
): QueryParameter {
  return { name, in: 'query', description, schema };
}
