import { randomUUID } from 'node:crypto';
import { containsCardNumber } from '../../../src/base/security/card-number.ts';
import { expect, it } from 'vitest';
import { hex, mix, uuidFromHex } from '../../../src/emulator/seed/random.ts';
import { inventedCard, inventedToken } from '../../../src/emulator/vault/invented-card.ts';

const NOVEMBER = Date.parse('2026-11-24T12:00:00Z');

/** Returns tokens that are the same in each run. */
function tokens(count: number): string[] {
  return Array.from({ length: count }, (_, row) =>
    uuidFromHex([1, 2, 3, 4].map((place) => hex(mix(row, place), 8)).join('')),
  );
}

function codes(seed: number, all: readonly string[]) {
  return all.map((token) => inventedCard(seed, token, NOVEMBER)?.update?.code);
}

it('an invented card has no update in 94 of 100 cases, an update in 4, a warning in 1.5 and an error in 0.5', () => {
  const counts: Record<string, number> = { none: 0, UPD: 0, WRN: 0, ERR: 0 };
  const all = tokens(20_000);
  for (const token of all) {
    const kind = inventedCard(1, token, NOVEMBER)?.update?.code?.slice(0, 3) ?? 'none';
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  const share = (kind: string): number => (100 * (counts[kind] ?? 0)) / all.length;
  expect(share('none')).toBeCloseTo(94, 0);
  expect(share('UPD')).toBeCloseTo(4, 0);
  expect(share('WRN')).toBeCloseTo(1.5, 0);
  expect(share('ERR')).toBeCloseTo(0.5, 0);
});

it('an invented card depends on the seed and the token, in either case of its letters', () => {
  const all = tokens(1_000);
  const lower = codes(1, all);
  expect(
    codes(
      1,
      all.map((token) => token.toUpperCase()),
    ),
  ).toEqual(lower);
  expect(codes(2, all)).not.toEqual(lower);
});

it('an invented card is for UUIDs only, so not for a token that a rehearsal invented', () => {
  const token = inventedToken(1, randomUUID());
  expect(token).toMatch(/^rehearsal-[0-9a-f]{16}$/);
  for (const text of [token, 'tok_1', '']) expect(inventedCard(1, text, NOVEMBER)).toBeUndefined();
});

it('an invented card expires years after the upload if its expiration changes', () => {
  const years = tokens(5_000).flatMap((token) => inventedCard(1, token, NOVEMBER)?.update?.newYear ?? []);
  expect([...new Set(years)].toSorted()).toEqual(['2029', '2030', '2031']);
});

it('invented tokens are as many as their cards', () => {
  const all = tokens(5_000);
  expect(new Set(all.map((token) => inventedToken(1, token))).size).toBe(all.length);
});

it('an invented card never has a new token that looks like a card number: a letter parts its digits', () => {
  for (const token of tokens(2_000)) expect(inventedToken(1, token)).toMatch(/^rehearsal-[0-9a-f]{8}[a-f][0-9a-f]{7}$/);
  // Both halves in digits, around each letter, are the nearest that such a token comes to a number.
  for (const letter of 'abcdef') expect(containsCardNumber(`rehearsal-41111111${letter}1111111`, 'cell')).toBe(false);
});
