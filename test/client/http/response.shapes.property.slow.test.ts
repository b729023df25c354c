import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { SvcError } from '../../../src/base/errors.ts';
import type { ApiRequest } from '../../../src/client/http/request.ts';
import { type ReadResponse, readResponse } from '../../../src/client/http/response.ts';
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
const NEEDED = ['id', 'status', 'count', 'inner', 'inner.name', 'inner.tags'] as const;
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

/** A name that no field of the shape has. */
const strange = fc
  .string({ maxLength: 20 })
  .filter((name) => !(name in GOOD) && !(name in GOOD.inner) && name !== 'note');

it('R23: an answer keeps fields, statuses and codes that nobody knows', () => {
  fc.assert(
    fc.property(fc.dictionary(strange, fc.jsonValue()), fc.string(), (extra, status) => {
      const body = { ...GOOD, ...extra, status, inner: { ...GOOD.inner, ...extra } };
      // JSON.stringify writes -0 as 0.
      expect(read(body)).toEqual(JSON.parse(JSON.stringify(body)));
    }),
    { numRuns: 500 },
  );
});

it('R23: an answer keeps every unknown value as it is, however deep it stands', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 100 }), fc.boolean(), (value, depth, inList) => {
      let deep: unknown = value;
      for (let level = 0; level < depth; level += 1) deep = inList ? [deep] : { new_member: deep };
      const body = { ...GOOD, new_member: deep, inner: { ...GOOD.inner, new_member: deep } };
      expect(read(body)).toEqual(JSON.parse(JSON.stringify(body)));
    }),
    { numRuns: 1_000 },
  );
});

it('R23: an answer that lacks a needed field is exit 8 and names the field', () => {
  fc.assert(
    fc.property(fc.constantFrom(...NEEDED), fc.dictionary(strange, fc.jsonValue()), (name, extra) => {
      const body: Record<string, unknown> = { ...extra, ...GOOD, inner: { ...GOOD.inner } };
      const [outer = '', inner] = name.split('.');
      if (inner === undefined) delete body[outer];
      else body['inner'] = Object.fromEntries(Object.entries(GOOD.inner).filter(([key]) => key !== inner));
      const error = failure(body);
      expect(error).toMatchObject({ code: 'bad_response', exitCode: 8 });
      expect(error.message).toContain(`${name} is missing`);
    }),
    { numRuns: 500 },
  );
});

it('R23: an answer that is any JSON whatever is either kept whole or refused plainly', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      expect(failure(body)).toMatchObject({ code: 'bad_response', status: 200 });
    }),
    { numRuns: 500 },
  );
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
