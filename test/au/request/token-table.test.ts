import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestFileCheck } from '../../../src/au/request/request-file.ts';
import { RepeatedTokens } from '../../../src/au/request/token-table.ts';

function taken(names: readonly string[], most?: number): RequestFileCheck['duplicates'] {
  const tokens = new RepeatedTokens(most);
  for (const [at, name] of names.entries()) {
    const bytes = Buffer.from(`<${name}>`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    tokens.add(view, 1, bytes.length - 1, at + 2);
  }
  return tokens.found();
}

describe('repeated tokens', () => {
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
    expect([tokens.count, tokens.comparedTo]).toEqual([40_000, undefined]);
    expect(tokens.first[0]).toEqual({ line: 40_002, firstLine: 2 });
  });

  it('the search for repeated tokens stops in bounded memory, and tells where', () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `tok_${at % 600}`);
    const tokens = taken(['tok_0', ...names], 512);
    expect(tokens.comparedTo).toBe(514);
    expect(tokens.count).toBe(1);
  });
});
