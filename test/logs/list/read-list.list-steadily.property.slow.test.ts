import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { LogFilter } from '../../../src/client/api/logs.ts';
import { CursorRefused, type PageOptions, Pages } from '../../../src/client/api/pages.ts';
import { listSteadily } from '../../../src/logs/list/read-list.ts';
import type { Log } from '../../../src/schema/log.ts';

const START = Date.UTC(2026, 0, 5, 12);

/** Logs in a fixed order, whose cursors live for a given number of pages. */
function logs(all: readonly Log[], pagesPerCursor: number): { list: typeof list; readonly expired: number } {
  let expired = 0;
  function list(filter: LogFilter = {}, options: PageOptions = {}): Pages<Log> {
    const { pageSize = 20 } = options;
    const from = Date.parse(filter.startDate ?? '') || -Infinity;
    const to = Date.parse(filter.endDate ?? '') || Infinity;
    const found = all.filter(({ created_at }) => Date.parse(created_at) >= from && Date.parse(created_at) < to);
    let pages = 0;
    return new Pages<Log>(async (cursor) => {
      if (pages >= pagesPerCursor) {
        expired += 1;
        throw new CursorRefused(new SvcError('rejected', 'the cursor has expired', { status: 410 }));
      }
      pages += 1;
      const begin = Number(cursor ?? 0);
      const end = begin + pageSize;
      const next = end < found.length ? `${end}` : undefined;
      return { items: found.slice(begin, end), next };
    }, options);
  }
  return {
    list,
    get expired() {
      return expired;
    },
  };
}

/** Returns an entry at a time after the start. Entries of the same kind and time are equal. */
function log([ms, kind]: readonly [number, number]): Log {
  return { message: `did ${kind}`, created_at: new Date(START + ms).toISOString() };
}

async function take(pages: AsyncIterable<{ readonly items: readonly Log[] }>): Promise<Log[]> {
  const found: Log[] = [];
  for await (const { items } of pages) found.push(...items);
  return found;
}

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
        { numRuns: 300 },
      );
      expect(expired).toBeGreaterThan(100);
    },
  );
});
