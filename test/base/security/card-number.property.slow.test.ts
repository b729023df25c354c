import { createHash, randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsCardNumber, inspectCell, maskCardNumbers } from '../../../src/base/security/card-number.ts';
import { dated, disguised, padded } from '../../support/card-numbers.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { Chance } from '../../support/chance.ts';

const RUNS = IS_SOAK ? 100_000 : 4_000;

/** Returns random numbers of so many digits, the first of which may be 0 only if `first` is. */
function randomDigits(length: number, count: number, first = 0): string[] {
  const chance = new Chance(length);
  const rest = Array.from({ length: length - 1 });
  const one = (): string => `${chance.between(first, 9)}${rest.map(() => chance.between(0, 9)).join('')}`;
  return Array.from({ length: count }, one);
}

describe('many card numbers and ids in cells', () => {
  it(`R40: the search for card numbers in cells finds ${RUNS} disguised numbers`, () => {
    fc.assert(
      fc.property(disguised(), (cell) => {
        expect(containsCardNumber(cell, 'cell')).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it(`R40: the search for card numbers in cells takes none of ${RUNS} UUIDs for a card, with dashes, without, and inside text`, () => {
    for (let count = 0; count < RUNS; count += 1) {
      const uuid = randomUUID();
      for (const form of [uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), `tok_${uuid}`, `a ${uuid} b`])
        expect([form, containsCardNumber(form, 'cell'), maskCardNumbers(form)]).toEqual([form, false, form]);
    }
    for (const uuid of ['00000000-0000-4111-8111-111111111111', '41111111-1111-1111-5555-555555554444'])
      expect([uuid, containsCardNumber(uuid, 'cell')]).toEqual([uuid, false]);
  });

  it('R40: the search for card numbers in cells finds numbers behind leading zeros and glued together in a cell, and leaves them in text', () => {
    fc.assert(
      fc.property(padded(), fc.constantFrom('', ' ', '-'), (digits, gap) => {
        const cell = gap === '' ? digits : (digits.match(/.{1,4}/g) ?? []).join(gap);
        expect([cell, containsCardNumber(cell, 'cell')]).toEqual([cell, true]);
      }),
      { numRuns: RUNS },
    );
    for (const cell of ['0004111111111111111', '41111111111111115555555555554444'])
      expect(containsCardNumber(cell)).toBe(false);
  });

  it('R40: the search for card numbers in cells refuses fewer than 1 % of random ids of 20 to 40 digits in a cell', () => {
    for (let length = 20; length <= 40; length += 1) {
      const ids = randomDigits(length, 2_000);
      const refused = ids.filter((id) => containsCardNumber(id, 'cell'));
      expect([length, refused.length < ids.length / 100]).toEqual([length, true]);
    }
  });
});

describe('many card numbers with a date attached, in cells', () => {
  it(`R40: the search for dated card numbers finds ${RUNS} of them, plain and disguised`, () => {
    fc.assert(
      fc.property(fc.oneof(dated(), disguised(dated())), (cell) => {
        expect(inspectCell(cell)).toBe('card_number');
      }),
      { numRuns: RUNS },
    );
  });

  it('R40: the search for dated card numbers refuses about one in a thousand of 100,000 random ids of 20 to 24 digits', () => {
    const ids = [20, 21, 22, 23, 24].flatMap((length) => randomDigits(length, 20_000, 1));
    const refused = ids.filter((id) => inspectCell(id) === 'card_number').length;
    expect(refused).toBeGreaterThan(ids.length * 0.000_5);
    expect(refused).toBeLessThan(ids.length * 0.002);
  });

  it('R40: the search for dated card numbers says of no UUID and no digest that it begins or ends like a card number', () => {
    for (let count = 0; count < 20_000; count += 1) {
      const digest = createHash('sha256').update(String(count)).digest('hex');
      for (const id of [randomUUID(), digest, digest.slice(0, 32)])
        expect([id, inspectCell(id)]).toEqual([id, 'no_card_number']);
    }
    for (const id of ['abcdefab41111111111111111229abcd', '41111111-1111-1111-1122-941111111111'])
      expect([id, inspectCell(id)]).toEqual([id, 'no_card_number']);
  });
});
