import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allRepeats } from '../../../src/au/request/all-repeats.ts';
import type { RepeatedRows, RequestFileCheck } from '../../../src/au/request/request-file.ts';
import { checked, HEADER } from '../rows.ts';

/** Finds the repeated rows of a file while only `mostCompared` different rows are remembered at a time. */
async function repeatsIn(
  tokens: readonly string[],
  mostCompared: number,
): Promise<{ readonly found: RepeatedRows; readonly reads: number }> {
  const file = [HEADER, ...tokens.map((token) => `${token},,,`), ''].join('\n');
  let reads = 0;
  const check = (options = {}): Promise<RequestFileCheck> => {
    reads += 1;
    return checked(file, { mostCompared, ...options });
  };
  const found = await allRepeats(await check(), (share) => check({ share }), mostCompared);
  return { found, reads };
}

describe('the search for all repeated rows of a file', () => {
  it('R39: the search for all repeated rows of a file finds them wherever they are, with the first lines in order', async () => {
    const some = fc.array(fc.nat(400), { maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(some, fc.integer({ min: 8, max: 500 }), async (numbers, most) => {
        const tokens = numbers.map((number) => `token-${number}`);
        const { found } = await repeatsIn(tokens, most);
        const repeats = tokens.flatMap((token, at) =>
          tokens.indexOf(token) === at ? [] : [{ line: at + 2, firstLine: tokens.indexOf(token) + 2 }],
        );
        expect(found).toMatchObject({
          count: repeats.length,
          lines: repeats.map(({ line }) => line),
          isComplete: true,
        });
        expect(found.first).toEqual(repeats.slice(0, 20));
      }),
      { numRuns: 100 },
    );
  });

  it('the search for all repeated rows of a file reads the file once unless it has more different rows than are remembered', async () => {
    const tokens = Array.from({ length: 1_000 }, (_, at) => `token-${at % 512}`);
    expect(await repeatsIn(tokens, 512)).toMatchObject({ reads: 1, found: { count: 488 } });
    const { reads, found } = await repeatsIn([...tokens, 'one-more', 'one-more'], 512);
    expect(found.count).toBe(489);
    expect(reads).toBeLessThan(10);
  });
});
