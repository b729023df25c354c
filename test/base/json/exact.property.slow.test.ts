import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactText, indentJson, readExact, replaceMembers } from '../../../src/base/json/exact.ts';
import { safeJson } from '../../../src/cli/output/formats.ts';
import { objectText } from '../../support/json-text.ts';
import { cases } from '../../support/cases.ts';

describe('an exact reading of JSON', () => {
  it('R60: an exact reading of JSON gives what a parser gives, and says where that is not all', () => {
    fc.assert(
      fc.property(objectText, ({ plain }) => {
        const parsed: unknown = JSON.parse(plain);
        const { value, isLossy } = readExact(plain);
        expect(JSON.parse(exactText(value))).toEqual(parsed);
        // A lossless reading writes the same text as JSON. A member named __proto__ counts as a loss, because copies
        // lose it.
        const isSame = exactText(value) === JSON.stringify(parsed);
        expect(isLossy || isSame).toBe(true);
        expect(isLossy && JSON.stringify(parsed) === plain && !plain.includes('__proto__')).toBe(false);
      }),
      { numRuns: cases(5_000) },
    );
  });
});

it('R61: a string with six million escapes is shown like any other', () => {
  const escapes = '\\n'.repeat(6_000_000);
  const json = `{"a":"${escapes}","pan":"4242 4242 4242 4242"}`;
  // Whole texts are compared by hand: a failed comparison would print them.
  expect(indentJson(json) === `{\n  "a": "${escapes}",\n  "pan": "4242 4242 4242 4242"\n}`).toBe(true);
  expect(replaceMembers(json, (name) => name === 'a', '1')).toBe('{"a":1,"pan":"4242 4242 4242 4242"}');
  expect(safeJson(json) === `{"a":"${escapes}","pan":"424242••••••4242"}`).toBe(true);
});
