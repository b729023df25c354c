import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { TokenTable } from '../../../src/au/request/token-table.ts';

it('a table of tokens has the same numbers as a map', () => {
  const token = fc.oneof(fc.nat(9).map(String), fc.string({ maxLength: 3 }));
  const call = fc.tuple(fc.boolean(), token, fc.integer({ min: 1, max: 5 }));
  fc.assert(
    fc.property(fc.array(call), (calls) => {
      const [table, map] = [new TokenTable(), new Map<string, number>()];
      for (const [ifAbsent, token, value] of calls) {
        const before = map.get(token) ?? 0;
        const returned = ifAbsent ? table.setIfAbsent(token, value) : table.get(token);
        expect(returned).toBe(before);
        if (!ifAbsent) table.set(token, value);
        map.set(token, ifAbsent && before !== 0 ? before : value);
      }
      expect(table.size).toBe(map.size);
    }),
  );
});

it('a table of tokens keeps their numbers while it grows', () => {
  const table = new TokenTable();
  for (let at = 1; at <= 100_000; at += 1) table.set(`token-${at}`, at);
  const wrong = Array.from({ length: 100_000 }, (_, at) => at + 1).filter((at) => table.get(`token-${at}`) !== at);
  expect([wrong, table.size, table.isFull]).toEqual([[], 100_000, false]);
});

it('a full table of tokens leaves out new tokens, and changes those that it has', () => {
  const table = new TokenTable({ mostSlots: 10 });
  for (let at = 1; at <= 8; at += 1) table.set(`token-${at}`, at);
  expect(table.isFull).toBe(false);
  table.set('token-9', 9);
  table.set('token-8', 80);
  expect([table.isFull, table.get('token-9'), table.get('token-8'), table.size]).toEqual([true, 0, 80, 8]);
});
