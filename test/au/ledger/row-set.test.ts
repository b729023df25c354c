import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOfNewToken, keyOfRow, MAX_SET_BYTES, RowSet, RowSetBuilder } from '../../../src/au/ledger/row-set.ts';
import { rowKey, tokenKey } from '../../../src/au/request/row-key.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { UUID } from '../rows.ts';

const SALT = 'a1'.repeat(32);
const PLACE = 'rows/1';

/** Generates keys of which some are equal, neighbors or at the ends of their range. */
function keys(): fc.Arbitrary<bigint[]> {
  const ends = fc.constantFrom(0n, 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n);
  const few = fc.bigInt({ min: 0n, max: 20n });
  return fc.array(fc.oneof(ends, few, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })), { maxLength: 40 });
}

it('a set of rows survives its bytes, which are sorted and have its hash as their name', () => {
  fc.assert(
    fc.property(keys(), (numbers) => {
      const rows = RowSet.of(numbers, SALT);
      const bytes = rows.bytes();
      expect(bytes.byteLength).toBe(8 * new Set(numbers).size);
      expect(RowSet.parse(bytes, PLACE, SALT)).toEqual(rows);
      expect(rows.name()).toBe(sha256Of(bytes));
      const inOrder = [...new Set(numbers)].toSorted((a, b) => (a < b ? -1 : 1));
      expect([...rows.keys]).toEqual(inOrder);
      const hex = inOrder.map((key) => key.toString(16).padStart(16, '0')).join('');
      expect(Buffer.from(bytes).toString('hex')).toBe(hex);
    }),
  );
});

it('a set of rows is the same in any order and with any repeats', () => {
  const shuffled = keys().chain((numbers) =>
    fc.tuple(fc.constant(numbers), fc.shuffledSubarray([...numbers, ...numbers], { minLength: 2 * numbers.length })),
  );
  fc.assert(
    fc.property(shuffled, ([numbers, others]) => {
      expect(RowSet.of(others, SALT).name()).toBe(RowSet.of(numbers, SALT).name());
      const builder = new RowSetBuilder(SALT);
      for (const key of others) builder.add(key);
      expect(builder.build().name()).toBe(RowSet.of(numbers, SALT).name());
    }),
  );
});

it('a set of rows has more keys than a builder has room for at first', () => {
  const builder = new RowSetBuilder(SALT);
  for (let key = 5000n; key > 0n; key -= 1n) builder.add(key);
  expect(builder.build().name()).toBe(
    RowSet.of(
      Array.from({ length: 5000 }, (_, at) => BigInt(at + 1)),
      SALT,
    ).name(),
  );
});

it('a set of rows finds its keys, and counts those of another set, as a Set does', () => {
  fc.assert(
    fc.property(keys(), keys(), (one, other) => {
      const [rows, others] = [RowSet.of(one, SALT), RowSet.of(other, SALT)];
      const [known, wanted] = [new Set(one), new Set(other)];
      for (const key of [...one, ...other]) expect(rows.has(key)).toBe(known.has(key));
      expect(rows.size).toBe(known.size);
      const shared = [...known].filter((key) => wanted.has(key)).length;
      expect([rows.countShared(others), others.countShared(rows)]).toEqual([shared, shared]);
    }),
  );
});

it('a set of rows has all rows of the sets that it unites, as a Set does', () => {
  fc.assert(
    fc.property(fc.array(keys(), { maxLength: 4 }), (all) => {
      const united = RowSet.union(
        all.map((numbers) => RowSet.of(numbers, SALT)),
        SALT,
      );
      expect(united.name()).toBe(RowSet.of(new Set(all.flat()), SALT).name());
    }),
  );
});

it('a set of rows that is cut, repeats a row or is out of order is refused', () => {
  const bytes = Buffer.from(RowSet.of([1n, 2n, 3n], SALT).bytes());
  const [first, second] = [bytes.subarray(0, 8), bytes.subarray(8, 16)];
  for (const damaged of [bytes.subarray(1), bytes.subarray(0, 23)])
    expect(() => RowSet.parse(damaged, PLACE, SALT)).toThrow(
      'the ledger is damaged: rows/1: its size is not a number of rows',
    );
  for (const damaged of [Buffer.concat([second, first]), Buffer.concat([first, first])])
    expect(() => RowSet.parse(damaged, PLACE, SALT)).toThrow(
      'the ledger is damaged: rows/1: its rows are not in order',
    );
});

it('a set of rows has room for a file of the shortest rows', () => {
  expect(MAX_SET_BYTES / 8).toBeGreaterThan(30_000_000 / 't,,,\n'.length - 1);
});

function keyOf(token: string): bigint {
  return keyOfRow(SALT, rowKey(token, 'M'));
}

function bornOf(token: string): bigint {
  return keyOfNewToken(SALT, tokenKey(token));
}

describe('the key of a row', () => {
  it('the key of a row is the beginning of a hash over salt, token and merchant', () => {
    const key = keyOfRow(SALT, rowKey('tok_1', 'M'));
    expect(key.toString(16).padStart(16, '0')).toBe(sha256Of(`${SALT}tok_1\0M`).slice(0, 16));
    const born = keyOfNewToken(SALT, 'tok_1');
    expect(born.toString(16).padStart(16, '0')).toBe(sha256Of(`${SALT}born\0tok_1`).slice(0, 16));
  });

  it('the key of a row is the same for a UUID in capitals, and another for any other token in capitals', () => {
    expect(keyOf(UUID.toUpperCase())).toBe(keyOf(UUID));
    expect(keyOf('TOK_1')).not.toBe(keyOf('tok_1'));
    expect(bornOf(UUID.toUpperCase())).toBe(bornOf(UUID));
  });
});
