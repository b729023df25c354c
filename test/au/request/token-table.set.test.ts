import { expect, it } from 'vitest';
import { TokenSet } from '../../../src/au/request/token-table.ts';

it.each([0, 100, 50_000, 1_000_000])(
  'a set of tokens knows each of 50,000 tokens once when %d were expected',
  (expected) => {
    const set = new TokenSet(expected);
    const tokens = Array.from({ length: 50_000 }, (_, at) => `token-${at}`);
    expect(tokens.every((token) => set.add(token))).toBe(true);
    expect(tokens.some((token) => set.add(token))).toBe(false);
    expect(set.isFull).toBe(false);
  },
);

it('a set of tokens says when it is full', () => {
  const set = new TokenSet(0, 1_000);
  const added = Array.from({ length: 900 }, (_, at) => set.add(String(at))).filter(Boolean);
  expect(added).toHaveLength(800);
  expect(set.isFull).toBe(true);
});
