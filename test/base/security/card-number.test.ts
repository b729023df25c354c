import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsCardNumber, inspectCell, maskCardNumbers } from '../../../src/base/security/card-number.ts';
import { cardNumber, dated, disguised, PUBLISHED_TEST_CARDS, withCheckDigit } from '../../support/card-numbers.ts';
import { cases } from '../../support/cases.ts';

describe('card numbers in cells', () => {
  it.each(PUBLISHED_TEST_CARDS)(
    'R40: the search for card numbers in cells finds the published test card number %s',
    (number) => {
      expect(containsCardNumber(number, 'cell')).toBe(true);
      expect(containsCardNumber(number)).toBe(true);
    },
  );

  it('R40: the search for card numbers in cells finds 200 disguised numbers, and 200 with a date', () => {
    for (const cell of fc.sample(disguised(), 200)) expect(containsCardNumber(cell, 'cell')).toBe(true);
    for (const cell of fc.sample(dated(), 200)) expect(inspectCell(cell)).toBe('card_number');
  });

  it.each([
    'a00000000-0000-0000-4111-111111111111',
    '00000000-0000-0000-4111-111111111111b',
    '4 11111111111111 1bcdefab-abcd-abcd-abcd-abcdefabcdefg',
    'xabcdefab-abcd-abcd-abcd-abcdefabcde4 111:1111:1111:1111',
    'PAN4111111111111111abcdefabcdef',
    'abcdefabcdef4111111111111111PAN',
    'abcdefabcdefabcdefabcdef12 411:1111:1111:11111',
    '00000000-0000-0000-0000-000000000000 4111111111111111 11111111-1111-1111-1111-111111111111',
    '41111111-1111-1111-1111-111111111111 411:1111:1111:11111',
    '411:1111:1111:11111 11111111-1111-1111-1111-111111111111',
  ])(
    'R40: the search for card numbers in cells finds the number beside UUIDs and digests, and in what is only like them: %s',
    (cell) => {
      expect(containsCardNumber(cell, 'cell')).toBe(true);
    },
  );

  // The digits after each prefix, chosen because they begin other ranges.
  const rest = '4552200979286034221';
  const inRange = (prefix: string, length: number): boolean =>
    containsCardNumber(withCheckDigit((prefix + rest).slice(0, length - 1)));
  const lengthsOf = (prefix: string): number[] =>
    Array.from({ length: 9 }, (_, at) => at + 12).filter((length) => inRange(prefix, length));

  it.each([
    [['4'], [13, 16, 19]],
    [['51', '55', '2221', '2229', '223', '229', '23', '26', '270', '271', '2720'], [16]],
    [['34', '37'], [15]],
    [
      ['50', '56', '58', '6011', '62', '644', '65', '67'],
      [13, 14, 15, 16, 17, 18, 19],
    ],
    [
      ['300', '309', '36', '38', '39'],
      [14, 15, 16, 17, 18, 19],
    ],
    [
      ['3528', '3529', '353', '358', '81', '82', '2200', '2205'],
      [16, 17, 18, 19],
    ],
    [['1', '2131'], [15]],
    [['9792', '8600', '9860'], [16]],
    [['0', '2130', '2132', '2220', '2206', '2721', '273', '28', '31', '33', '3527', '359', '59', '7', '80', '83'], []],
    [['8601', '90', '9791', '9793', '9861'], []],
    // The beginning of a range within a number is none.
    [['08600', '09860'], []],
  ])(
    'R40 and R06: the search for card numbers in cells knows what networks issue, with %j in front: %j digits',
    (prefixes, lengths) => {
      expect(prefixes.map((prefix) => [prefix, lengthsOf(prefix)])).toEqual(
        prefixes.map((prefix) => [prefix, lengths]),
      );
    },
  );

  it.each([
    ['a wrong check digit', '4111111111111112'],
    ['no issuer range', '9111111111111111'],
    ['twelve digits', '411111111116'],
    ['twenty digits', '41111111111111111111'],
    ['a month and a year', '12/2026'],
    ['a merchant number', '000000445000042'],
    ['digits parted by letters', '4111x1111x1111x1111'],
    ['digits and one more behind a letter', '411111111111111x1'],
    ['figures beside one another', '12 411 1111 1111 11111'],
    ['nothing but zeros', '0000000000000000'],
  ])('the search for card numbers in cells finds nothing in %s', (_, cell) => {
    expect(containsCardNumber(cell, 'cell')).toBe(false);
  });

  it.each([
    'tok_4111111111111111',
    'PAN4111111111111111',
    'cardnumber4111111111111111',
    '4111111111111111=2512',
    '4111-1111-1111-1111-12-25',
    '12 4111 1111 1111 1111',
    '4111,1111,1111,1111',
    '12:4111:1111:1111:1111',
    '12    411:1111:1111:11111',
    '0.4111111111111111',
    '411:1111:1111:11111',
    '４１１１１１１１１１１１１１１１',
    '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏',
    '٤١١١١١١١١١١١١١١١',
    '4️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣',
    '④①①①①①①①①①①①①①①①',
    '4111\u200b1111\u20601111\u00ad1111',
  ])('the search for card numbers in cells finds the number in %s', (cell) => {
    expect(containsCardNumber(cell, 'cell')).toBe(true);
  });
});

describe('card numbers with a date attached, in cells', () => {
  it.each([
    '41111111111111111229',
    '41111111111111112912',
    '4111111111111111122029',
    '4111111111111111202912',
    '2029124111111111111111',
    '202912314111111111111111',
    '0041111111111111111229',
    'PAN41111111111111111229',
    '41111111111111112001',
    '41111111111111111249',
  ])('R40: the search for dated card numbers finds the number in %s', (cell) => {
    expect(inspectCell(cell)).toBe('card_number');
  });

  it.each([
    ['a month 13', '41111111111111111329'],
    ['a month 00', '41111111111111110029'],
    ['the year 19', '41111111111111111219'],
    ['the year 50', '41111111111111111250'],
    ['a date of the last century', '4111111111111111121999'],
    ['a day 32', '202912324111111111111111'],
    ['a month and a year in front', '12294111111111111111'],
    ['one more digit', '411111111111111112291'],
    ['one digit', '41111111111111112'],
    ['a check digit that is wrong', '41111111111111121229', 'no_card_number'],
  ])('a run of digits with %s is not refused', (_, cell, content = 'attached_digits') => {
    expect(inspectCell(cell)).toBe(content);
  });
});

describe('card numbers in text', () => {
  it('the search for card numbers in text masks all but the first six and the last four digits', () => {
    expect(maskCardNumbers('paid with 4111111111111111.')).toBe('paid with 411111••••••1111.');
    expect(maskCardNumbers('a 4222222222222 b 378282246310005')).toBe('a 422222•••2222 b 378282•••••0005');
    expect(maskCardNumbers('card 5555-5555-5555-4444, or ４111 1111 1111 1111')).toBe(
      'card 555555••••••4444, or 411111••••••1111',
    );
  });

  it('the search for card numbers in text masks a number of supplementary digits whole', () => {
    expect(maskCardNumbers('x𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏y')).toBe('x411111••••••1111y');
    expect(maskCardNumbers('𝟹𝟽𝟷𝟺𝟺𝟿𝟼𝟹𝟻𝟹𝟿𝟾𝟺𝟹𝟷')).toBe('371449•••••8431');
  });

  it('R06: the search for card numbers in text masks a number with signs in it that nobody sees', () => {
    for (const sign of ['\u200b', '\u00ad', '\u2060', '\ufe0f\u20e3'])
      expect(maskCardNumbers(`x ${Array.from('4111111111111111').join(sign)} y`)).toBe('x 411111••••••1111 y');
  });

  it('R06: the search for card numbers in text masks each of several numbers, and leaves the figures around them', () => {
    expect(maskCardNumbers('4111 1111 1111 1111 5555 5555 5555 4444')).toBe('411111••••••1111 555555••••••4444');
    expect(maskCardNumbers('12 4111 1111 1111 1111 7')).toBe('12 411111••••••1111 7');
    const [one, other] = ['00000000-0000-0000-0000-000000000000', '11111111-1111-1111-1111-111111111111'];
    expect(maskCardNumbers(`${one} 4111111111111111 ${other}`)).toBe(`${one} 411111••••••1111 ${other}`);
  });

  it.each([
    ['378282246310005', '4-6-5'],
    ['30569309025904', '4-6-4'],
    ['4222222222222', '4-4-5'],
    ['4111111111111111', '4-12'],
    ['4111111111111111', '6-10'],
    ['4111111111111111', '8-8'],
    ['378282246310005', '6-9'],
    [withCheckDigit('622000000000000000'), '6-13'],
    [withCheckDigit('622000000000000000'), '4-4-4-4-3'],
  ])('R06: the search for card numbers in text masks %s in groups of %s', (number, sizes) => {
    expect(maskCardNumbers(grouped(number, sizes))).toBe(
      `${number.slice(0, 6)}${'•'.repeat(number.length - 10)}${number.slice(-4)}`,
    );
  });

  it.each(['3-4-4-5', '4-4-3-4-1', '9-7', '5-5-6', '1-15', '4-4-4-3-1'])(
    'the search for card numbers in text leaves figures beside one another as they are: in groups of %s',
    (sizes) => {
      expect(maskCardNumbers(grouped('4111111111111111', sizes))).toBe(grouped('4111111111111111', sizes));
    },
  );

  it.each(['.4111111111111111', '1234 4111111111111111', '12345.4111111111111111', '1.4111111111111111.2'])(
    'R06: the search for card numbers in text masks what is not surely a fraction: %s',
    (text) => {
      expect(maskCardNumbers(text)).toBe(text.replace('4111111111111111', '411111••••••1111'));
    },
  );

  it('R06: the search for card numbers in text masks every number as people write them', () => {
    fc.assert(
      fc.property(cardNumber(), fc.constantFrom('', ' ', '-', '.', '\u00a0', ' - ', '\u2011'), (number, gap) => {
        const written = number.replace(/(.{4})(?=.)/g, `$1${gap}`);
        const masked = maskCardNumbers(`before ${written}, after`);
        expect(masked).toBe(`before ${number.slice(0, 6)}${'•'.repeat(number.length - 10)}${number.slice(-4)}, after`);
        expect(maskCardNumbers(masked)).toBe(masked);
      }),
      { numRuns: cases(2_000) },
    );
  });

  it.each([
    'share 0.4111111111111111 of all',
    'took 1234.4111111111111111 s',
    'amounts 4111,1111,1111,1111',
    '4111 1111-1111 1111',
    '2026-11-20T10:00:00.411111Z 2026-11-20 10:22:33.444',
    '{"a":4111,"b":1111,"c":1111,"d":1111}',
    '4111  1111  1111  1111',
    'sha256:9f4111111111111111abcdef0123456789abcdef0123456789abcdef01234567',
    '+49 170 1234567 890',
    '1763700000000 1763700000000000',
  ])('the search for card numbers in text leaves figures as they are: %s', (text) => {
    expect([maskCardNumbers(text), containsCardNumber(text)]).toEqual([text, false]);
  });

  it('the search for card numbers in text never joins digits across lines', () => {
    expect(maskCardNumbers('4111\n1111\n1111\n1111')).toBe('4111\n1111\n1111\n1111');
  });
});

/** Returns digits in groups of these sizes, separated by spaces. */
function grouped(digits: string, sizes: string): string {
  let at = 0;
  return sizes
    .split('-')
    .map((size) => digits.slice(at, (at += Number(size))))
    .join(' ');
}
