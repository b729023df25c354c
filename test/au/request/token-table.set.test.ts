import { expect, it } from 'vitest';
import { TokenTable } from '../../../src/au/request/token-table.ts';

it.each([0, 100, 50_000, 1_000_000])(
  'a table without values knows each of 50,000 tokens once when %d were expected',
  (expected) => {
    const set = new TokenTable({ hasValues: false, expected });
    const tokens = Array.from({ length: 50_000 }, (_, at) => `token-${at}`);
    expect(tokens.every((token) => set.setIfAbsent(token, 1) === 0)).toBe(true);
    expect(tokens.some((token) => set.setIfAbsent(token, 1) === 0)).toBe(false);
    expect(set.isFull).toBe(false);
  },
);

it('a table of tokens says when it is full', () => {
  const set = new TokenTable({ hasValues: false, mostSlots: 1_000 });
  for (let at = 0; at < 900; at += 1) set.setIfAbsent(String(at), 1);
  expect([set.size, set.isFull]).toEqual([800, true]);
});
