import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import {
  CursorRefused,
  cursorPages,
  isExpiredCursor,
  Pages,
  type Page,
  type PageOptions,
} from '../../../src/client/api/pages.ts';
import type { HttpCore } from '../../../src/client/http/core.ts';
import type { ApiRequest } from '../../../src/client/http/request.ts';
import { cases } from '../../support/cases.ts';
import { anyCharacter } from '../../support/any-character.ts';

/** Serves these pages. Each cursor is one of the given texts, which must come back byte for byte. */
function serve(
  pages: readonly (readonly number[])[],
  cursors: readonly string[],
  isAhead = false,
): { pages: Pages<number>; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  const read = async (cursor: string | undefined): Promise<Page<number>> => {
    asked.push(cursor);
    const at = cursor === undefined ? 0 : cursors.indexOf(cursor) + 1;
    return { items: pages[at] ?? [], next: at + 1 < pages.length ? cursors[at] : undefined };
  };
  return { pages: new Pages(read, { isAhead }), asked };
}

/** Returns a list in the cursor style whose service refuses some cursors. */
function listRefusing(isRefused: (start: unknown) => boolean, status: number, options: PageOptions): Pages<number> {
  const callWithText = async ({ query }: ApiRequest<unknown>) => {
    if (isRefused(query?.['start'])) throw refused(status);
    return { value: { data: [1], pagination: { next: 'a' } }, text: '' };
  };
  const core = { callWithText } as unknown as HttpCore;
  return cursorPages(
    core,
    options,
    { path: '/logs' } as unknown as Parameters<typeof cursorPages<number, number>>[2],
    (items) => items,
  );
}

async function gather<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

describe('pages', () => {
  it('R26: paging gives every item once and in order, whatever the page sizes and cursors', async () => {
    const server = fc
      .array(fc.array(fc.integer(), { maxLength: 5 }), { minLength: 1, maxLength: 30 })
      .chain((pages) =>
        fc.tuple(
          fc.constant(pages),
          fc.uniqueArray(fc.string({ minLength: 1, unit: anyCharacter }), {
            minLength: pages.length,
            maxLength: pages.length,
          }),
          fc.boolean(),
        ),
      );
    await fc.assert(
      fc.asyncProperty(server, async ([pages, cursors, isAhead]) => {
        const { pages: list, asked } = serve(pages, cursors, isAhead);
        expect(await gather(list)).toEqual(pages.flat());
        expect(asked).toEqual([undefined, ...cursors.slice(0, pages.length - 1)]);
      }),
      { numRuns: cases(500) },
    );
  });

  it('R26: paging continues after an empty page that has a next cursor', async () => {
    const { pages } = serve([[1], [], [], [2]], ['a', 'b', 'c', 'd']);
    expect(await gather(pages)).toEqual([1, 2]);
  });

  it('R26: an empty page with the cursor of its own request is the end, and one with an earlier cursor is not', async () => {
    const own = new Pages(async (cursor) => ({
      items: cursor === 'b' ? [] : [1],
      next: cursor === undefined ? 'a' : 'b',
    }));
    expect((await gather(own.pages())).at(-1)).toEqual({ items: [], next: undefined, repeatsCursor: true });
    expect(await gather(own)).toEqual([1, 1]);
    const earlier = new Pages(async (cursor) => ({
      items: cursor === 'b' ? [] : [1],
      next: cursor === undefined || cursor === 'b' ? 'a' : 'b',
    }));
    await expect(gather(earlier)).rejects.toMatchObject({ code: 'truncated' });
    const started = new Pages<number>(async () => ({ items: [], next: 'start' }), { start: 'start' });
    expect(await gather(started)).toEqual([]);
  });

  it('R26: paging ends with an error when empty pages with new cursors do not end', async () => {
    let asked = 0;
    const endless = new Pages(async () => ({ items: [], next: `cursor ${(asked += 1)}` }));
    await expect(gather(endless)).rejects.toMatchObject({ code: 'truncated', exitCode: 12 });
    expect(asked).toBe(1_000);
    asked = 0;
    const sparse = new Pages(async () => ({
      items: (asked += 1) % 999 === 0 ? [asked] : [],
      next: asked < 3_000 ? `cursor ${asked}` : undefined,
    }));
    expect(await gather(sparse)).toEqual([999, 1998, 2997]);
  });

  it('R26: paging ends with an error when a cursor comes twice, at once or in a longer circle', async () => {
    for (const circle of [['a'], ['a', 'b', 'c']]) {
      let at = 0;
      const pages = new Pages(async () => ({ items: [at], next: circle[at++ % circle.length] }));
      await expect(gather(pages)).rejects.toMatchObject({
        code: 'truncated',
        message: expect.stringContaining(`the same cursor twice after ${circle.length + 1} pages`),
      });
    }
  });

  it('R26: paging starts at a given cursor and sends it as it is', async () => {
    const asked: (string | undefined)[] = [];
    const pages = new Pages(
      async (cursor) => {
        asked.push(cursor);
        return { items: [1], next: undefined };
      },
      { start: '+/=%20ü\u0000' },
    );
    await gather(pages);
    expect(asked).toEqual(['+/=%20ü\u0000']);
  });

  it('paging asks for nothing until an item is wanted, and for no page that is not', async () => {
    const { pages, asked } = serve([[1, 2], [3], [4]], ['a', 'b', 'c']);
    const items = pages[Symbol.asyncIterator]();
    expect(asked).toEqual([]);
    await items.next();
    await items.next();
    expect(asked).toEqual([undefined]);
    await items.next();
    await items.return(undefined);
    expect(asked).toEqual([undefined, 'a']);
  });
});

function refused(status: number): SvcError {
  return new SvcError('rejected', 'refused', { status });
}

describe('a list in the cursor style', () => {
  it('R26: a list in the cursor style asks for each page by its cursor, filter and size, and ends where next is null, empty or absent', async () => {
    for (const end of [{ pagination: { next: null } }, { pagination: { next: '' } }, { pagination: {} }, {}]) {
      const asked: ApiRequest<unknown>[] = [];
      const callWithText = async (request: ApiRequest<unknown>) => {
        asked.push(request);
        const more = asked.length < 3 ? { pagination: { next: `cursor ${asked.length}` } } : end;
        return { value: { data: [asked.length], ...more }, text: `page ${asked.length}` };
      };
      const core = { callWithText } as unknown as HttpCore;
      const request = { path: '/logs', query: { entity_id: 'e' } } as unknown as Parameters<typeof cursorPages>[2];
      const list = cursorPages(core, { start: 'here', pageSize: 50 }, request, (items, text) => [[...items, text]]);
      expect(await gather(list)).toEqual([
        [1, 'page 1'],
        [2, 'page 2'],
        [3, 'page 3'],
      ]);
      expect(asked).toEqual(
        ['here', 'cursor 1', 'cursor 2'].map((start) => ({
          path: '/logs',
          method: 'GET',
          query: { entity_id: 'e', start, size: 50 },
        })),
      );
    }
  });

  it('R26: a list in the cursor style does not end with a full page that says nothing of another one', async () => {
    const core = { callWithText: async () => ({ value: { data: [1, 2, 3] }, text: '' }) } as unknown as HttpCore;
    const request = { path: '/logs', query: {} } as unknown as Parameters<typeof cursorPages>[2];
    const listOf = (pageSize: number) => cursorPages(core, { pageSize }, request, (items) => items);
    await expect(gather(listOf(3))).rejects.toMatchObject({ code: 'bad_response', retryable: true });
    expect(await listOf(3).first(3)).toEqual([1, 2, 3]);
    expect(await gather(listOf(4))).toEqual([1, 2, 3]);
  });

  it('R27: a list in the cursor style broke off because its cursor expired only after its first page, and only where the service says so', () => {
    for (const status of [400, 404, 410, 422])
      expect([isExpiredCursor(refused(status), 1), isExpiredCursor(refused(status), 0)]).toEqual([true, false]);
    for (const status of [401, 403, 429, 500]) expect(isExpiredCursor(refused(status), 1)).toBe(false);
    // The guard's own words stay.
    expect(isExpiredCursor(new SvcError('truncated', 'the same cursor twice'), 3)).toBe(false);
    expect(isExpiredCursor(new SvcError('network', 'reset'), 1)).toBe(false);
    expect(isExpiredCursor(Object.assign(new Error('other'), { status: 404 }), 1)).toBe(false);
  });

  it.each([400, 404, 410, 422])(
    'a list whose service refuses its own cursor with %i broke off, and may be read again',
    async (status) => {
      for (const isAhead of [false, true]) {
        const list = listRefusing((start) => start !== undefined, status, { isAhead });
        const error: unknown = await gather(list).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: 'bad_response', exitCode: 8, status, retryable: true });
        expect([error instanceof CursorRefused, isExpiredCursor(error, 1)]).toEqual([true, true]);
      }
    },
  );

  it('a refused cursor that somebody typed is no list that broke off', async () => {
    const list = listRefusing(() => true, 400, { start: 'typed' });
    await expect(gather(list)).rejects.toEqual(refused(400));
  });

  it('R26: a list in the cursor style asks for one page ahead where the whole list is wanted, and a failure comes in its turn', async () => {
    const { pages, asked } = serve([[1], [2], [3]], ['a', 'b'], true);
    const items = pages[Symbol.asyncIterator]();
    await expect(items.next()).resolves.toMatchObject({ value: 1 });
    expect(asked).toEqual([undefined, 'a']);
    await items.return(undefined);
    const failing = new Pages(
      async (cursor) => {
        if (cursor === 'a') throw new Error('gone');
        return { items: [1], next: 'a' };
      },
      { isAhead: true },
    );
    const rest = failing[Symbol.asyncIterator]();
    await expect(rest.next()).resolves.toMatchObject({ value: 1 });
    await expect(rest.next()).rejects.toThrow('gone');
  });
});
