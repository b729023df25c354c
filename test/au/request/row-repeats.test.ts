import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowKey } from '../../../src/au/request/row-key.ts';
import { MemoryOverflow, takenRows } from './repeating.ts';
import { cases } from '../../support/cases.ts';

const UUID = '5f0c1b5e-9d4a-4f7b-8e21-00000000000a';

describe('repeated rows', () => {
  it('R39: rows are the same exactly if their keys are the same: token and merchant, a UUID in either case', async () => {
    const token = fc.constantFrom('a', 'A', 'ab', UUID, UUID.toUpperCase(), `${UUID}b`, `${UUID.toUpperCase()}b`, 'é');
    const merchant = fc.constantFrom('', 'a', 'A', 'b', 'merchant-1', 'merchant-2', UUID, UUID.toUpperCase());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(token, merchant), { maxLength: 100 }), async (rows) => {
        const keys = rows.map(([token, merchant]) => rowKey(token, merchant));
        const repeats = keys.flatMap((key, at) => (keys.indexOf(key) === at ? [] : [at + 2]));
        const found = await takenRows(rows);
        expect(found.lines).toEqual(repeats);
        expect(found.hasSeveralMerchants).toBe(new Set(rows.map(([, merchant]) => merchant)).size > 1);
      }),
      { numRuns: cases(3_000) },
    );
  });

  it('rows stay in memory while there are few', async () => {
    const overflow = new MemoryOverflow();
    await takenRows([['tok_1', '']], overflow);
    expect(overflow).toMatchObject({ moves: 0, isReleased: false });
  });
});
