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

/** A source over these seconds, with pages of two, whose lists end after `most` entries with a repeated cursor. */
function ending(
  seconds: readonly number[],
  most: number,
  order: 'older' | 'newer' | 'any',
): LogSource & { reads: string[] } {
  const logs = seconds.map((second, index) => log(`entry ${index}`, second));
  const sorted = order === 'any' ? logs : logs.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  const listed = order === 'older' ? sorted.toReversed() : sorted;
  const reads: string[] = [];
  return {
    ...idle(),
    reads,
    async *pages({ from, to }): AsyncGenerator<Page<Log>> {
      reads.push(`${(from - START) / 1000}-${(to - START) / 1000}`);
      const isIn = ({ created_at: at }: Log): boolean => Date.parse(at) >= from && Date.parse(at) < to;
      const found = listed.filter(isIn).slice(0, most);
      for (let at = 0; at < found.length; at += 2) yield { items: found.slice(at, at + 2), next: `${at + 2}` };
      yield found.length === 0 ? { items: [], next: undefined } : { items: [], next: undefined, repeatsCursor: true };
    },
  };
}

function idle(): Omit<LogSource, 'pages'> {
  return { clock: new ModelClock(START), signal: new AbortController().signal, now: () => START };
}

it.each([
  ['older', ['0-60', '0-11', '0-11']],
  ['newer', ['0-60', '50-60', '50-60']],
] as const)(
  'R26: a list in order (%s) that repeats its cursor is read on after its last entry',
  async (order, [, rest]) => {
    const seconds = [10, 20, 30, 40, 50];
    const whole = ending(seconds, 99, order);
    expect(words(await readOnce(whole, MINUTE))).toHaveLength(5);
    expect(whole.reads).toEqual(['0-60', rest]);
    const cut = ending(seconds, 2, order);
    expect(words(await readOnce(cut, MINUTE)).toSorted()).toEqual(seconds.map((_, index) => `entry ${index}`));
  },
);

it('R26: a list in no order that repeats its cursor is compared with its halves', async () => {
  const whole = ending([30, 10, 50, 20], 99, 'any');
  expect(words(await readOnce(whole, MINUTE))).toHaveLength(4);
  expect(whole.reads).toEqual(['0-60', '0-30', '30-60']);
  expect(words(await readOnce(ending([30, 10, 50, 20], 3, 'any'), MINUTE))).toHaveLength(4);
});

it('R26: a list that never shows its last entry is an error, and not an expired cursor', async () => {
  let number = 0;
  const endless = {
    ...ending([], 0, 'any'),
    async *pages(): AsyncGenerator<Page<Log>> {
      yield { items: [log(`entry ${(number += 1)}`, 5)], next: 'a' };
      yield { items: [], next: undefined, repeatsCursor: true };
    },
  };
  await expect(readOnce(endless, MINUTE)).rejects.toMatchObject({
    code: 'truncated',
    message: 'the service ended each list with a repeated cursor, before its last entry',
  });
  const circle = {
    ...ending([], 0, 'any'),
    pages: () => new Pages<Log>(async () => ({ items: [log('x', 1)], next: 'a' })).pages(),
  };
  await expect(readOnce(circle, MINUTE)).rejects.toMatchObject({ message: /same cursor twice/ });
});
