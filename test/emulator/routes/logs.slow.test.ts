import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MANAGEMENT, sandbox, START } from '../harness.ts';
import { requests, walk, withoutReads } from './walk-logs.ts';

describe('logs', () => {
  it('R26: the list of logs walks all logs exactly once, whatever the page size', async () => {
    const on = await sandbox({ logCount: 131 });
    const all = await walk(on, 100);
    expect(all).toHaveLength(131);
    for (const size of [99, 33, 7, 2]) {
      const before = requests(on);
      const seen = await walk(on, size);
      // The walk finds every entry from before it, and none that it adds.
      expect(seen).toHaveLength(131 + before);
      expect(withoutReads(seen)).toEqual(all);
    }
  });

  it('the list of logs cuts the list at any window without loss', async () => {
    const on = await sandbox({ logCount: 200 });
    await on.call('/tenants/self', { headers: MANAGEMENT });
    const all = await walk(on, 100);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -1500, max: 10 }), async (minutes) => {
        const seam = new Date(START + minutes * 60_000).toISOString();
        const newer = await walk(on, 100, { start_date: seam });
        const older = await walk(on, 100, { end_date: seam });
        expect(withoutReads([...newer, ...older])).toEqual(all);
      }),
      { numRuns: 15 },
    );
  });
});
