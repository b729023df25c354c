import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RepeatedRows } from '../../../src/au/request/request-file.ts';
import { MemoryOverflow, taken, takenRows } from './repeating.ts';
import { cases } from '../../support/cases.ts';

/** Returns the repeats among names, found by comparing each with all. */
function repeatsAmong(names: readonly string[]): RepeatedRows['first'] {
  return names.flatMap((name, at) =>
    names.indexOf(name) === at ? [] : [{ line: at + 2, firstLine: names.indexOf(name) + 2 }],
  );
}

describe('repeated rows', () => {
  it('R39: repeated tokens are counted as a set counts them', async () => {
    const name = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.nat(50).map(String),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 400 }), async (names) => {
        const tokens = await taken(names);
        expect(tokens.count).toBe(names.length - new Set(names).size);
        expect(tokens.first).toEqual(repeatsAmong(names).slice(0, 20));
      }),
      { numRuns: cases(1_000) },
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
  ])('the search for repeated tokens finds none among 100,000 different names made of %s', async (_, name) => {
    const names = [...new Set(Array.from({ length: 100_000 }, (_, at) => name(at)))];
    expect(names.length).toBeGreaterThan(90_000);
    expect((await taken(names)).count).toBe(0);
  });

  it('R39: repeats are found wherever they are, also among rows that were moved out of memory', async () => {
    const some = Array.from({ length: 90_000 }, (_, at) => `tok_${at}`);
    const names = [...some, 'tok_89999', 'tok_0', ...some.slice(40_000, 60_000), 'tok_last', 'tok_last', 'tok_0'];
    const overflow = new MemoryOverflow();
    const found = await takenRows(
      names.map((name) => [name, '']),
      overflow,
      10_000,
    );
    expect(overflow).toMatchObject({ moves: 6, isReleased: true });
    expect(found.first.slice(0, 3)).toEqual([
      { line: 90_002, firstLine: 90_001 },
      { line: 90_003, firstLine: 2 },
      { line: 90_004, firstLine: 40_002 },
    ]);
    expect(found.lines).toEqual([...Array.from({ length: 20_002 }, (_, at) => 90_002 + at), 110_005, 110_006]);
  });

  it('the search for repeated tokens fails where a place for those that memory does not take fails', async () => {
    const full = new Error('the disk is full');
    const overflow = new MemoryOverflow();
    overflow.append = () => Promise.reject(full);
    const rows = Array.from({ length: 100_000 }, (_, at) => [`tok_${at}`, ''] as const);
    await expect(takenRows(rows, overflow, 10_000)).rejects.toBe(full);
  });
});
