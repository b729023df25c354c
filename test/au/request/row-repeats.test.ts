import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RepeatedRows } from '../../../src/au/request/request-file.ts';
import { isUuid, rowKey } from '../../../src/au/request/row-key.ts';
import type { Overflow } from '../../../src/au/request/row-buckets.ts';
import { RowRepeats } from '../../../src/au/request/row-repeats.ts';

type Row = readonly [token: string, merchant: string];

/** A place for hashes that counts what is appended to it. */
class MemoryOverflow implements Overflow {
  readonly #words: number[] = [];
  moves = 0;
  isReleased = false;

  append(pieces: readonly Int32Array[]): Promise<number> {
    const at = this.#words.length * 4;
    for (const piece of pieces) this.#words.push(...piece);
    this.moves += 1;
    return Promise.resolve(at);
  }

  read(at: number, words: Int32Array): Promise<void> {
    words.set(this.#words.slice(at / 4, at / 4 + words.length));
    return Promise.resolve();
  }

  release(): Promise<void> {
    this.isReleased = true;
    return Promise.resolve();
  }
}

async function takenRows(rows: readonly Row[], overflow?: MemoryOverflow, most?: number): Promise<RepeatedRows> {
  const repeats = new RowRepeats(overflow && (() => Promise.resolve(overflow)), most);
  for (const [at, [token, merchant]] of rows.entries()) {
    const bytes = Buffer.from(`<${token}>${merchant}>`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const end = 1 + Buffer.byteLength(token);
    repeats.add(view, { start: 1, end, isUuid: isUuid(token) }, { start: end + 1, end: bytes.length - 1 }, at + 2);
    await repeats.relieve();
  }
  return repeats.found();
}

function taken(names: readonly string[]): Promise<RepeatedRows> {
  return takenRows(names.map((name) => [name, '']));
}

const UUID = '5f0c1b5e-9d4a-4f7b-8e21-00000000000a';

describe('repeated rows', () => {
  it('R39: rows are the same exactly if their keys are the same: token and merchant, a UUID in either case', async () => {
    const token = fc.constantFrom('a', 'A', 'ab', UUID, UUID.toUpperCase(), `${UUID}b`, `${UUID.toUpperCase()}b`, 'é');
    const merchant = fc.constantFrom('', 'a', 'A', 'b', 'merchant-1', 'merchant-2', UUID, UUID.toUpperCase());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(token, merchant), { maxLength: 100 }), async (rows) => {
        const keys = rows.map(([token, merchant]) => rowKey(token, merchant));
        const repeats = keys.flatMap((key, at) => (keys.indexOf(key) === at ? [] : [at + 2]));
        const found = await takenRows(rows);
        expect(found.lines).toEqual(repeats);
        expect(found.hasSeveralMerchants).toBe(new Set(rows.map(([, merchant]) => merchant)).size > 1);
      }),
      { numRuns: 300 },
    );
  });

  it('the search for repeated tokens keeps what it knows while it grows', async () => {
    const names = Array.from({ length: 40_000 }, (_, at) => `tok_${at}`);
    const tokens = await taken([...names, ...names]);
    expect(tokens.count).toBe(40_000);
    expect(tokens.first[0]).toEqual({ line: 40_002, firstLine: 2 });
  });

  it('rows stay in memory while there are few', async () => {
    const overflow = new MemoryOverflow();
    await takenRows([['tok_1', '']], overflow);
    expect(overflow).toMatchObject({ moves: 0, isReleased: false });
  });
});
