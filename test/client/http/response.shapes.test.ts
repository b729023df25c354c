import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { SvcError } from '../../../src/base/errors.ts';
import type { ApiRequest } from '../../../src/client/http/request.ts';
import { type ReadResponse, readResponse } from '../../../src/client/http/response.ts';
import { listedJobPageSchema } from '../../../src/schema/account-updater.ts';
import { expectClean } from './support/core.ts';

const SHAPE = z.looseObject({
  id: z.string(),
  status: z.string(),
  count: z.number(),
  inner: z.looseObject({ name: z.string(), tags: z.array(z.string()) }),
  note: z.string().optional(),
});
type Entry = z.infer<typeof SHAPE>;

const GOOD: Entry = { id: 'a', status: 'pending', count: 3, inner: { name: 'n', tags: ['x', 'y'] } };
const REQUEST: ApiRequest<Entry> = { method: 'GET', path: '/things/1', key: 'private', shape: SHAPE };

const FACTS = {
  request: REQUEST,
  url: new URL('https://api.test/things/1'),
  keyOrigin: 'test',
  hide: (text: string) => text,
};

function answerOf(body: unknown): ReadResponse {
  return { status: 200, text: JSON.stringify(body), complete: true, headers: () => [], header: () => undefined };
}

function read(body: unknown): Entry {
  return readResponse(FACTS, SHAPE, answerOf(body));
}

it('R23: an answer with a single member of another type than documented is read, and the member is named', () => {
  const named: string[] = [];
  const page = { pagination: { page_size: 20, next: null }, data: [{ id: 'a', status: 5 }] };
  const { data } = readResponse(FACTS, listedJobPageSchema, answerOf(page), (members) => named.push(...members));
  expect([data[0]?.id, named]).toEqual(['a', ['data.status']]);
});

it('R23: an answer with a needed field of another type is exit 8 and names the field', () => {
  fc.assert(
    fc.property(fc.constantFrom('id', 'status', 'count'), fc.constantFrom(null, [], {}, true), (name, value) => {
      expect(failure({ ...GOOD, [name]: value }).message).toContain(`${name}: `);
    }),
  );
});

it('R23: an answer names the place in a list, and no more than five places', () => {
  expect(failure({ ...GOOD, inner: { name: 'n', tags: ['x', 7] } }).message).toContain('inner.tags.1: ');
  const { message } = failure({ ...GOOD, inner: { name: 'n', tags: Array.from({ length: 500 }, () => 7) } });
  expect(message.match(/inner\.tags\.\d+/g)).toHaveLength(5);
});

function failure(body: unknown): SvcError {
  try {
    read(body);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    expectClean(error);
    return error;
  }
  throw new Error('it was accepted');
}
