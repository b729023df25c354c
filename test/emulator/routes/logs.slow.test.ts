import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Log, LogPage } from '../../../src/schema/log.ts';
import { MANAGEMENT, sandbox, START } from '../harness.ts';
import { page, requests, walk, withoutReads } from './walk-logs.ts';

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

  it('the list of logs also goes by page number, until an empty page', async () => {
    const on = await sandbox({ logCount: 45 });
    const all = await walk(on, 100);
    for (const size of [1, 7, 20]) {
      const before = requests(on);
      const seen: Log[] = [];
      let end: LogPage | undefined;
      for (let number = 1; end === undefined; number += 1) {
        const found = await page(on, { size: String(size), page: String(number) });
        seen.push(...found.data);
        if (found.data.length === 0) end = found;
      }
      expect(end.pagination).toEqual({ next: null, page_size: size });
      expect(seen).toHaveLength(45 + before);
      expect(withoutReads(seen)).toEqual(all);
    }
  });
});
