import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readResponse } from '../../../src/client/http/response.ts';
import { listedJobPageSchema } from '../../../src/schema/account-updater.ts';
import { FACTS, GOOD, answerOf, failure } from './shapes.ts';

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
