import { expect, it } from 'vitest';
import { SvcError } from '../../src/base/errors.ts';
import { CursorRefused, type Page, Pages, type ReadPage } from '../../src/client/api/pages.ts';
import type { TimeRange } from '../../src/logs/entry.ts';
import { type LogSource, readOnce, readReliably, TooManyPages } from '../../src/logs/read-range.ts';
import type { Log } from '../../src/schema/log.ts';
import { ModelClock } from './model.ts';

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE: TimeRange = { from: START, to: START + 60_000 };

/** A source whose nth read of a window returns the nth list of pages, and later reads the last list. */
function reads(...lists: readonly (readonly (readonly string[] | number)[])[]): LogSource & { count: number } {
  return {
    count: 0,
    clock: new ModelClock(START),
    signal: new AbortController().signal,
    now: () => START,
    async *pages(): AsyncGenerator<Page<Log>> {
      const list = lists[Math.min(this.count, lists.length - 1)] ?? [];
      this.count += 1;
      for (const [index, page] of list.entries()) {
        if (typeof page === 'number' && index > 0)
          throw new CursorRefused(new SvcError('rejected', 'no such cursor', { status: page }));
        if (typeof page === 'number') throw new SvcError('rejected', 'no such window', { status: page });
        yield { items: page.map(log), next: index + 1 < list.length ? 'next' : undefined };
      }
    },
  };
}

let requested = 0;

/** Returns a read that gives empty pages without an end. */
function emptyPage(): ReadPage<Log> {
  requested = 0;
  return async () => ({ items: [], next: `cursor ${(requested += 1)}` });
}

function log(message: string, index: number): Log {
  return { message, created_at: new Date(START + index * 1000).toISOString() };
}

function words({ entries }: Awaited<ReturnType<typeof readOnce>>): string[] {
  return entries.map((entry) => entry.log.message ?? '');
}

it.each([400, 404, 410, 422])(
  'R27: a window whose cursor expired (%i) is read again, without loss or duplicates',
  async (status) => {
    const source = reads([['a', 'b'], status], [['a', 'b'], ['c'], status], [['a', 'b'], ['c'], ['d']]);
    expect(words(await readOnce(source, MINUTE))).toEqual(['a', 'b', 'c', 'd']);
    expect(source.count).toBe(3);
  },
);

it('R27: a window is not read again without end, and not when its first page is refused', async () => {
  // A tail would wait for the end of an outage if the error said that it may pass.
  const endless = { code: 'truncated', retryable: false };
  await expect(readOnce(reads([['a'], 410]), MINUTE)).rejects.toMatchObject(endless);
  const refused = reads([400]);
  await expect(readOnce(refused, MINUTE)).rejects.toMatchObject({ code: 'rejected', status: 400 });
  expect(refused.count).toBe(1);
});

it('R26: a window of a list that was given up after 1,000 empty pages is not read again', async () => {
  const source = { ...reads([]), pages: () => new Pages<Log>(emptyPage()).pages() };
  await expect(readOnce(source, MINUTE)).rejects.toMatchObject({ code: 'truncated', facts: { empty_pages: 1_000 } });
  expect(requested).toBe(1_000);
});

it('R26: empty pages do not count as pages of a window, which would be read in ever smaller parts', async () => {
  const source = reads([[], [], ['a', 'b'], []]);
  expect(words(await readOnce(source, MINUTE, { maxPages: 2 }))).toEqual(['a', 'b']);
  await expect(readOnce(reads([['a'], ['b'], ['c']]), MINUTE, { maxPages: 2 })).rejects.toBeInstanceOf(TooManyPages);
});

it('R28: a window of several pages is read until two reads agree', async () => {
  const source = reads([['a', 'b'], ['b']], [['a', 'b'], ['c']], [['a', 'b'], ['c']]);
  expect(words(await readReliably(source, MINUTE))).toEqual(['a', 'b', 'c']);
  expect(source.count).toBe(3);
});

it('R28: a window of one page is certain after one read', async () => {
  const source = reads([['a', 'a']]);
  expect(words(await readReliably(source, MINUTE))).toEqual(['a', 'a']);
  expect(source.count).toBe(1);
});
