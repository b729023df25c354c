import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reconcile, type Reconciliation, TokenIndex } from '../../../src/au/results/reconcile.ts';
import { HEADER, inChunks, stream } from '../rows.ts';
import { cases } from '../../support/cases.ts';

interface Texts {
  readonly request: string;
  readonly results: string;
  readonly size?: number;
}

function compared({ request, results, size = 1_000_000 }: Texts, index?: TokenIndex): Promise<Reconciliation> {
  const held = Buffer.from(results);
  return reconcile(
    { open: () => stream(inChunks(Buffer.from(request), size)) },
    { open: () => stream([held]) },
    { index },
  );
}

function requestOf(tokens: readonly string[], end = '\n'): string {
  return [HEADER, ...tokens.map((token) => `${token},27,01,`)].map((line) => line + end).join('');
}

function resultsOf(tokens: readonly string[]): string {
  return `token,result_code\n${tokens.map((token) => `${token},UPD_PAN\n`).join('')}`;
}

/** Returns the expected reconciliation, counted with a map. */
function expected(asked: readonly string[], answered: readonly string[]) {
  const left = new Map<string, number>();
  for (const token of asked) left.set(token, (left.get(token) ?? 0) + 1);
  const mismatches = answered.flatMap((token, at) => {
    const count = left.get(token);
    if (count === undefined) return [{ row: at + 1, type: 'not_requested' }];
    if (count === 0) return [{ row: at + 1, type: 'duplicate' }];
    left.set(token, count - 1);
    return [];
  });
  return {
    rows: asked.length,
    answered: answered.length,
    unchanged: asked.length - answered.length + mismatches.length,
    not_requested: mismatches.filter(({ type }) => type === 'not_requested').length,
    duplicates: mismatches.filter(({ type }) => type === 'duplicate').length,
    mismatches: mismatches.slice(0, 20),
  };
}

const token = fc.oneof(fc.constantFrom('a', 'b', 'c', 'tok,"x', 'é'), fc.uuid());

function quoted(name: string): string {
  return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

describe('results held against their request', () => {
  it('R47: results compared with their request come out as by counting tokens, in any order, however the bytes are cut', async () => {
    const lists = fc
      .array(token, { maxLength: 40 })
      .chain((asked) =>
        fc.record({
          asked: fc.constant(asked),
          answered: fc.oneof(
            fc.subarray(asked),
            fc.shuffledSubarray(asked),
            fc.array(asked.length > 0 ? fc.oneof(fc.constantFrom(...asked), token) : token, { maxLength: 60 }),
          ),
          size: fc.integer({ min: 1, max: 90 }),
          end: fc.constantFrom('\n', '\r\n'),
        }),
      );
    await fc.assert(
      fc.asyncProperty(lists, async ({ asked, answered, size, end }) => {
        const request = requestOf(asked.map(quoted), end);
        const found = await compared({ request, results: resultsOf(answered.map(quoted)), size });
        expect(found).toMatchObject(expected(asked, answered));
        expect(found.rows).toBe(found.answered - found.not_requested - found.duplicates + found.unchanged);
      }),
      { numRuns: cases(3_000) },
    );
  });

  it('results compared with their request are read side by side where they stand in order, else by token', async () => {
    const request = requestOf(['a', 'b', 'a', 'c']);
    expect((await compared({ request, results: resultsOf(['b', 'c']) })).matched_by).toBe('order');
    expect((await compared({ request, results: resultsOf([]) })).matched_by).toBe('order');
    expect((await compared({ request, results: resultsOf(['a', 'a']) })).matched_by).toBe('order');
    expect((await compared({ request, results: resultsOf(['c', 'b']) })).matched_by).toBe('token');
  });

  it('results compared with their request need no memory for tokens where they stand in order, and are only counted beyond it otherwise', async () => {
    const tokens = Array.from({ length: 5_000 }, (_, at) => `tok_${at}`);
    const request = requestOf(tokens);
    const inOrder = await compared({ request, results: resultsOf(tokens) }, new TokenIndex(16));
    expect(inOrder).toMatchObject({ matched_by: 'order', unchanged: 0 });
    const results = resultsOf(tokens.slice(100).toReversed());
    expect(await compared({ request, results }, new TokenIndex(16))).toMatchObject({
      matched_by: 'count',
      rows: 5_000,
      answered: 4_900,
      unchanged: 100,
    });
    expect(await compared({ request, results })).toMatchObject({ matched_by: 'token', not_requested: 0 });
  });

  it('a request without a line end at its end is whole', async () => {
    const found = await compared({ request: `${HEADER}\na,,,\nb,,,`, results: resultsOf(['b']) });
    expect(found).toMatchObject({ rows: 2, answered: 1, unchanged: 1 });
  });
});
