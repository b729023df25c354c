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

describe('a list of logs', () => {
  it('R27: a list keeps the requested interval after its cursor expired', async () => {
    const all = Array.from({ length: 100 }, (_, index) => log([(99 - index) * 1_000, 0]));
    const service = logs(all, 2);
    const filter = { startDate: log([10_000, 0]).created_at, endDate: log([90_000, 0]).created_at };
    const found = await take(listSteadily(service, filter, { pageSize: 5 }));
    expect(found).toEqual(all.slice(10, 90));
    expect(service.expired).toBeGreaterThan(5);
  });

  it('R27: a list fails when its rest cannot be determined', async () => {
    const mixed = [log([0, 0]), log([5_000, 0]), log([1_000, 0]), log([9_000, 0])];
    await expect(take(listSteadily(logs(mixed, 3), {}, { pageSize: 1 }))).rejects.toMatchObject({
      code: 'truncated',
      retryable: false,
    });
    const one = [log([0, 0]), log([0, 1]), log([0, 2])];
    await expect(take(listSteadily(logs(one, 1), {}, { pageSize: 1, start: '1' }))).rejects.toMatchObject({
      code: 'truncated',
    });
  });

  it('R27: a list gives up on a cursor that expires before every page', async () => {
    const all = Array.from({ length: 30 }, () => log([0, 0]));
    await expect(take(listSteadily(logs(all, 1), {}, { pageSize: 5 }))).rejects.toMatchObject({ status: 410 });
  });
});
