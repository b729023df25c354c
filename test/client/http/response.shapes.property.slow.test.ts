import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { GOOD, failure, read } from './shapes.ts';
import { cases } from '../../support/cases.ts';
const NEEDED = ['id', 'status', 'count', 'inner', 'inner.name', 'inner.tags'] as const;

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
    { numRuns: cases(5_000) },
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
    { numRuns: cases(10_000) },
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
    { numRuns: cases(5_000) },
  );
});

it('R23: an answer that is any JSON whatever is either kept whole or refused plainly', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      expect(failure(body)).toMatchObject({ code: 'bad_response', status: 200 });
    }),
    { numRuns: cases(5_000) },
  );
});
