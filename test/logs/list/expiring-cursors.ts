import { SvcError } from '../../../src/base/errors.ts';
import type { LogFilter } from '../../../src/client/api/logs.ts';
import { CursorRefused, type PageOptions, Pages } from '../../../src/client/api/pages.ts';
import type { Log } from '../../../src/schema/log.ts';

const START = Date.UTC(2026, 0, 5, 12);

/** Logs in a fixed order, whose cursors live for a given number of pages. */
export function logs(all: readonly Log[], pagesPerCursor: number): { list: typeof list; readonly expired: number } {
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
export function log([ms, kind]: readonly [number, number]): Log {
  return { message: `did ${kind}`, created_at: new Date(START + ms).toISOString() };
}

export async function take(pages: AsyncIterable<{ readonly items: readonly Log[] }>): Promise<Log[]> {
  const found: Log[] = [];
  for await (const { items } of pages) found.push(...items);
  return found;
}
