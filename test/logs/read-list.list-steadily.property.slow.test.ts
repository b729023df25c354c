import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listSteadily } from '../../src/logs/read-list.ts';
import type { Log } from '../../src/schema/log.ts';
import { log, logs, take } from './list/expiring-cursors.ts';
import { cases } from '../support/cases.ts';

const halfSeconds = fc.nat(60).map((number) => number * 500);
const entries = fc.array(fc.tuple(halfSeconds, fc.nat(2)), { minLength: 20, maxLength: 80 });

function text(list: readonly Log[]): string[] {
  return list.map((one) => JSON.stringify(one)).toSorted();
}

describe('a list of logs', () => {
  it.each([1, -1])(
    'R27: a list continues where its cursor expired, without loss or duplicates (direction %i)',
    async (sign) => {
      let expired = 0;
      await fc.assert(
        fc.asyncProperty(entries, fc.integer({ min: 1, max: 6 }), async (made, pageSize) => {
          const all = made.toSorted(([one], [other]) => sign * (one - other)).map(log);
          // The entries of one second fit into the pages that a cursor lives for.
          const seconds = new Map<string, number>();
          for (const { created_at } of all)
            seconds.set(created_at.slice(0, 19), (seconds.get(created_at.slice(0, 19)) ?? 0) + 1);
          const service = logs(all, Math.ceil(Math.max(...seconds.values()) / pageSize) + 1);
          const found = await take(listSteadily(service, {}, { pageSize, isAhead: pageSize % 2 === 0 }));
          expect(text(found)).toEqual(text(all));
          expect(found.map((one) => one.created_at.slice(0, 19))).toEqual(
            all.map((one) => one.created_at.slice(0, 19)),
          );
          expired += service.expired;
        }),
        { numRuns: cases(1_000) },
      );
      expect(expired).toBeGreaterThan(100);
    },
  );
});
