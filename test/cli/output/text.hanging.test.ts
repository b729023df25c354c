import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hangingIndent } from '../../../src/cli/output/wrap.ts';

it('text behind a lead stays under itself', () => {
  expect(hangingIndent('CODE  ', 6, 'one two three four five six', 30)).toBe(
    'CODE  one two three four five\n      six',
  );
});

it('text behind a lead goes below the lead where it would be too narrow', () => {
  expect(hangingIndent('A_LONG_CODE_OF_A_RESULT  ', 25, 'leave it out', 40)).toBe(
    'A_LONG_CODE_OF_A_RESULT\n    leave it out',
  );
});

it('text behind a lead keeps every word, and the width wherever words allow', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,16}$/), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.integer({ min: 0, max: 40 }), fc.integer({ min: 40, max: 200 }), (all, lead, columns) => {
      const shown = hangingIndent('x'.repeat(lead), lead, all.join(' '), columns);
      expect(shown.slice(lead).split(/\s+/).filter(Boolean)).toEqual(all);
      for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    }),
  );
});
