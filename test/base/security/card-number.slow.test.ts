import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsCardNumber, maskCardNumbers } from '../../../src/base/security/card-number.ts';
import { withCheckDigit } from '../../support/card-numbers.ts';
import { cases } from '../../support/cases.ts';

describe('card numbers in cells', () => {
  it.each([
    '00000000-0000-0000-4111-111111111111',
    'id 00000000-0000-0000-4111-111111111111 of it',
    `${'reference '.repeat(8)}00000000-0000-0000-4111-111111111111`,
    '00000000-0000-0000-4111-111111111111 00000000-0000-0000-4111-111111111111',
    'abcdefab-abcd-abcd-abcd-abcdefabcde4 1111 1111 1111 111',
    '4111111111111111abcdefabcdefabcd',
    'abcdefabcdefabcd4111111111111111',
    'ab4111111111111111cdef0123456789abcdef01',
    `${'word '.repeat(20)}abcdefabcdef4111111111111111abcdefabcdef`,
    `abcdefabcdef4111111111111111 ${'word '.repeat(20)}`,
  ])(
    'R40: the search for card numbers in cells leaves UUIDs and digests alone, even when their digits are those of a card: %s',
    (form) => {
      expect([containsCardNumber(form, 'cell'), maskCardNumbers(form)]).toEqual([false, form]);
    },
  );

  it('the search for card numbers in cells finds no number without its check digit, nor a Visa number of another length', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{12,16}$/), (digits) => {
        const whole = digits.slice(0, -1);
        fc.pre(withCheckDigit(whole) !== digits);
        expect(containsCardNumber(digits, 'cell')).toBe(false);
        const visa = `4${whole}`;
        // A number of 17 digits may be read as 13 digits and a date.
        fc.pre(visa.length < 16);
        expect(containsCardNumber(withCheckDigit(visa), 'cell')).toBe([12, 15].includes(visa.length));
      }),
      { numRuns: cases(10_000) },
    );
  });
});

describe('card numbers in text', () => {
  it('the search for card numbers in text stays linear on hostile text', () => {
    for (const piece of ['4', '4 ', '4-1 ', '41111111-1111-', '4111111111111111', '4111 1111 1111 1111 ', '\u200b4']) {
      // A search that is not linear takes minutes here, longer than the time limit of a test.
      expect(maskCardNumbers(piece.repeat(Math.ceil(400_000 / piece.length)))).not.toBe('');
    }
  });
});
