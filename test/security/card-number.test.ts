import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsCardNumber, findCardNumbers, maskCardNumbers } from '../../src/security/card-number.ts';
import { cardNumber, disguised, padded, PUBLISHED_TEST_CARDS, withCheckDigit } from '../support/card-numbers.ts';

const RUNS = process.env['SOAK'] === '1' ? 100_000 : 10_000;

describe('card numbers in cells', () => {
  it.each(PUBLISHED_TEST_CARDS)('R40 finds the published test card number %s', (number) => {
    expect(containsCardNumber(number, 'cell')).toBe(true);
    expect(containsCardNumber(number)).toBe(true);
  });

  it('R40 finds 10,000 disguised numbers', () => {
    fc.assert(
      fc.property(disguised(), (cell) => {
        expect(containsCardNumber(cell, 'cell')).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('R40 takes none of 10,000 UUIDs for a card, with dashes, without, and inside text', () => {
    for (let count = 0; count < RUNS; count += 1) {
      const uuid = randomUUID();
      for (const form of [uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), `tok_${uuid}`, `a ${uuid} b`])
        expect([form, findCardNumbers(form, 'cell'), findCardNumbers(form)]).toEqual([form, [], []]);
    }
  });

  it('R40 finds numbers behind leading zeros and glued together in a cell, and leaves them in text', () => {
    fc.assert(
      fc.property(padded(), fc.constantFrom('', ' ', '-'), (digits, gap) => {
        const cell = gap === '' ? digits : (digits.match(/.{1,4}/g) ?? []).join(gap);
        expect([cell, containsCardNumber(cell, 'cell')]).toEqual([cell, true]);
      }),
      { numRuns: 10_000 },
    );
    for (const cell of ['0004111111111111111', '41111111111111115555555555554444'])
      expect(containsCardNumber(cell)).toBe(false);
  });

  it('R40 refuses fewer than 1 % of random ids of 20 to 40 digits in a cell', () => {
    for (let length = 20; length <= 40; length += 1) {
      const ids = fc.sample(fc.stringMatching(new RegExp(`^[0-9]{${length}}$`)), {
        numRuns: 2_000,
        seed: length,
      });
      const refused = ids.filter((id) => containsCardNumber(id, 'cell'));
      expect([length, refused.length < ids.length / 100]).toEqual([length, true]);
    }
  });

  it('R40 refuses no UUID in a cell, however it is written', () => {
    const uuids = fc.sample(fc.uuid(), 20_000).flatMap((uuid) => [uuid, uuid.replaceAll('-', ''), `id ${uuid}`]);
    const digits = ['00000000-0000-4111-8111-111111111111', '41111111-1111-1111-5555-555555554444'];
    expect([...uuids, ...digits].filter((uuid) => containsCardNumber(uuid, 'cell'))).toEqual([]);
  });

  it('R40 leaves a UUID alone even when its digits are those of a card', () => {
    for (const form of ['41111111-1111-1111-0000-000000000000', '4111111111111111abcdefabcdefabcd'])
      expect(containsCardNumber(form, 'cell')).toBe(false);
  });

  it.each([
    ['a wrong check digit', '4111111111111112'],
    ['no issuer range', '9111111111111111'],
    ['twelve digits', '411111111116'],
    ['twenty digits', '41111111111111111111'],
    ['a month and a year', '12/2026'],
    ['a merchant number', '000000445000042'],
    ['digits parted by letters', '4111x1111x1111x1111'],
    ['a sha-256 with a run of digits', 'ab4111111111111111cdef0123456789abcdef01'],
  ])('finds nothing in %s', (_, cell) => {
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
    '411:1111:1111:11111',
    '４１１１１１１１１１１１１１１１',
    '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏',
    '٤١١١١١١١١١١١١١١١',
    '4️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣',
    '④①①①①①①①①①①①①①①①',
    '4111\u200b1111\u20601111\u00ad1111',
  ])('finds the number in %s', (cell) => {
    expect(containsCardNumber(cell, 'cell')).toBe(true);
  });

  it('finds no number without its check digit, nor a Visa number of another length', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{12,20}$/), (digits) => {
        const whole = digits.slice(0, -1);
        fc.pre(withCheckDigit(whole) !== digits);
        expect(containsCardNumber(digits, 'cell')).toBe(false);
        const visa = `4${whole}`.slice(0, 18);
        expect(containsCardNumber(withCheckDigit(visa), 'cell')).toBe([12, 15, 18].includes(visa.length));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('card numbers in text', () => {
  it('masks all but the first six and the last four digits', () => {
    expect(maskCardNumbers('paid with 4111111111111111.')).toBe('paid with 411111••••••1111.');
    expect(maskCardNumbers('a 4222222222222 b 378282246310005')).toBe('a 422222•••2222 b 378282•••••0005');
    expect(maskCardNumbers('card 5555-5555-5555-4444, or ４111 1111 1111 1111')).toBe(
      'card 555555••••••4444, or 411111••••••1111',
    );
  });

  it('masks a number of supplementary digits whole', () => {
    expect(maskCardNumbers('x𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏y')).toBe('x411111••••••1111y');
  });

  it('R06 masks every number as people write them', () => {
    fc.assert(
      fc.property(cardNumber(), fc.constantFrom('', ' ', '-', '.', '\u00a0', ' - ', '\u2011'), (number, gap) => {
        const written = number.replace(/(.{4})(?=.)/g, `$1${gap}`);
        const masked = maskCardNumbers(`before ${written}, after`);
        expect(masked).toBe(`before ${number.slice(0, 6)}${'•'.repeat(number.length - 10)}${number.slice(-4)}, after`);
        expect(maskCardNumbers(masked)).toBe(masked);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    'share 0.4111111111111111 of all',
    'took 12.4111111111111111 s',
    '2026-11-20T10:00:00.411111Z 2026-11-20 10:22:33.444',
    '{"a":4111,"b":1111,"c":1111,"d":1111}',
    '4111  1111  1111  1111',
    'sha256:9f4111111111111111abcdef0123456789abcdef0123456789abcdef01234567',
    '+49 170 1234567 890',
    '1763700000000 1763700000000000',
  ])('leaves figures as they are: %s', (text) => {
    expect(maskCardNumbers(text)).toBe(text);
  });

  it('never joins digits across lines', () => {
    expect(maskCardNumbers('4111\n1111\n1111\n1111')).toBe('4111\n1111\n1111\n1111');
  });

  it('stays linear on hostile text', () => {
    for (const piece of ['4', '4 ', '4-1 ', '41111111-1111-', '4111111111111111', '4111 1111 1111 1111 ', '\u200b4']) {
      // What is not linear takes minutes for this, longer than a test may.
      expect(maskCardNumbers(piece.repeat(Math.ceil(400_000 / piece.length)))).not.toBe('');
    }
  });
});
