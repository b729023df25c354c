import { expect, it } from 'vitest';
import { integer } from '../../../src/cli/app/value-parsers.ts';

it.each([
  [integer(1), '0', 'must be a whole number of at least 1'],
  [integer(1, 5), '6', 'must be a whole number from 1 to 5'],
  [integer(1, 5), '1.5', 'must be a whole number from 1 to 5'],
])('a whole number names its limits, %#', (parse, typed, words) => {
  expect(() => parse(typed)).toThrow(words);
  expect(parse('1')).toBe(1);
});
