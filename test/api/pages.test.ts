import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pages, type Page } from '../../src/api/pages.ts';

/** A server with these pages; cursors are the given texts, told back byte for byte. */
function serve(
  pages: readonly (readonly number[])[],
  cursors: readonly string[],
): { pages: Pages<number>; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  const read = async (cursor: string | undefined): Promise<Page<number>> => {
    asked.push(cursor);
    const at = cursor === undefined ? 0 : cursors.indexOf(cursor) + 1;
    return { items: pages[at] ?? [], next: at + 1 < pages.length ? cursors[at] : undefined };
  };
  return { pages: new Pages(read), asked };
}

async function gather<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

describe('pages', () => {
  it('R26 gives every item once and in order, whatever the page sizes and cursors', async () => {
    const server = fc.array(fc.array(fc.integer(), { maxLength: 5 }), { minLength: 1, maxLength: 30 }).chain((pages) =>
      fc.tuple(
        fc.constant(pages),
        fc.uniqueArray(fc.string({ minLength: 1, unit: 'binary' }), {
          minLength: pages.length,
          maxLength: pages.length,
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(server, async ([pages, cursors]) => {
        const { pages: list, asked } = serve(pages, cursors);
        expect(await gather(list)).toEqual(pages.flat());
        expect(asked).toEqual([undefined, ...cursors.slice(0, pages.length - 1)]);
      }),
      { numRuns: 500 },
    );
  });

  it('R26 continues after an empty page that has a next cursor', async () => {
    const { pages } = serve([[1], [], [], [2]], ['a', 'b', 'c', 'd']);
    expect(await gather(pages)).toEqual([1, 2]);
  });

  it('R26 ends with an error when empty pages with new cursors do not end', async () => {
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

  it('R26 ends with an error when a cursor comes twice, at once or in a longer circle', async () => {
    for (const circle of [['a'], ['a', 'b', 'c']]) {
      let at = 0;
      const pages = new Pages(async () => ({ items: [at], next: circle[at++ % circle.length] }));
      await expect(gather(pages)).rejects.toMatchObject({
        code: 'truncated',
        message: expect.stringContaining(`the same cursor twice after ${circle.length + 1} pages`),
      });
    }
  });

  it('R26 starts at a given cursor and sends it as it is', async () => {
    const asked: (string | undefined)[] = [];
    const pages = new Pages(async (cursor) => {
      asked.push(cursor);
      return { items: [1], next: undefined };
    }, '+/=%20ü\u0000');
    await gather(pages);
    expect(asked).toEqual(['+/=%20ü\u0000']);
  });

  it('asks for nothing until an item is wanted, and for no page that is not', async () => {
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
