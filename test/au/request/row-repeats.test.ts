import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RepeatedRows } from '../../../src/au/request/request-file.ts';
import { isUuid, rowKey } from '../../../src/au/request/row-key.ts';
import { RowRepeats } from '../../../src/au/request/row-repeats.ts';

type Row = readonly [token: string, merchant: string];

function takenRows(rows: readonly Row[], most?: number): RepeatedRows {
  const repeats = new RowRepeats(most);
  for (const [at, [token, merchant]] of rows.entries()) {
    const bytes = Buffer.from(`<${token}>${merchant}>`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const end = 1 + Buffer.byteLength(token);
    repeats.add(view, { start: 1, end, isUuid: isUuid(token) }, { start: end + 1, end: bytes.length - 1 }, at + 2);
  }
  return repeats.found();
}

function taken(names: readonly string[], most?: number): RepeatedRows {
  return takenRows(
    names.map((name) => [name, '']),
    most,
  );
}

const UUID = '5f0c1b5e-9d4a-4f7b-8e21-00000000000a';

describe('repeated rows', () => {
  it('R39: rows are the same exactly if their keys are the same: token and merchant, a UUID in either case', () => {
    const token = fc.constantFrom('a', 'A', 'ab', UUID, UUID.toUpperCase(), `${UUID}b`, `${UUID.toUpperCase()}b`, 'é');
    const merchant = fc.constantFrom('', 'a', 'A', 'b', 'merchant-1', 'merchant-2', UUID, UUID.toUpperCase());
    fc.assert(
      fc.property(fc.array(fc.tuple(token, merchant), { maxLength: 100 }), (rows) => {
        const keys = rows.map(([token, merchant]) => rowKey(token, merchant));
        const repeats = keys.flatMap((key, at) => (keys.indexOf(key) === at ? [] : [at + 2]));
        const found = takenRows(rows);
        expect(found.lines).toEqual(repeats);
        expect(found.hasSeveralMerchants).toBe(new Set(rows.map(([, merchant]) => merchant)).size > 1);
      }),
      { numRuns: 300 },
    );
  });

  it('R39: repeated tokens are counted as a set counts them', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.nat(50).map(String),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 400 }), (names) => {
        const tokens = taken(names);
        expect(tokens.count).toBe(names.length - new Set(names).size);
        const repeats = names.flatMap((name, at) =>
          names.indexOf(name) === at ? [] : [{ line: at + 2, firstLine: names.indexOf(name) + 2 }],
        );
        expect(tokens.first).toEqual(repeats.slice(0, 20));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['numbers', (at: number) => `tok_${at}`],
    ['numbers of one length', (at: number) => `tok_${String(at).padStart(28, '0')}`],
    [
      'numbers in two places',
      (at: number) => `${String(at % 500).padStart(4, '0')}aaaa${String(Math.floor(at / 500)).padStart(4, '0')}bbbb`,
    ],
    [
      'one sign at any place',
      (at: number) =>
        `${'a'.repeat(at % 600)}${String.fromCharCode(33 + (at % 90))}${'a'.repeat(Math.floor(at / 600))}`,
    ],
  ])('the search for repeated tokens finds none among 100,000 different names made of %s', (_, name) => {
    const names = [...new Set(Array.from({ length: 100_000 }, (_, at) => name(at)))];
    expect(names.length).toBeGreaterThan(90_000);
    expect(taken(names).count).toBe(0);
  });

  it('the search for repeated tokens keeps what it knows while it grows', () => {
    const names = Array.from({ length: 40_000 }, (_, at) => `tok_${at}`);
    const tokens = taken([...names, ...names]);
    expect([tokens.count, tokens.isComplete]).toEqual([40_000, true]);
    expect(tokens.first[0]).toEqual({ line: 40_002, firstLine: 2 });
  });

  it('the search for repeated tokens remembers a bounded number of rows, and finds repeats of those in all others', () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `tok_${at % 600}`);
    const tokens = taken(['tok_0', ...names], 512);
    expect(tokens.isComplete).toBe(false);
    expect(tokens.count).toBe(401);
  });
});
