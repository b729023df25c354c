import type { RepeatedRows } from '../../../src/au/request/request-file.ts';
import { isUuid } from '../../../src/au/request/row-key.ts';
import type { Overflow } from '../../../src/au/request/row-buckets.ts';
import { RowRepeats } from '../../../src/au/request/row-repeats.ts';

export type Row = readonly [token: string, merchant: string];

/** A place for hashes that counts what is appended to it. */
export class MemoryOverflow implements Overflow {
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

export async function takenRows(rows: readonly Row[], overflow?: MemoryOverflow, most?: number): Promise<RepeatedRows> {
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

export function taken(names: readonly string[]): Promise<RepeatedRows> {
  return takenRows(names.map((name) => [name, '']));
}
