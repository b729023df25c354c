// Finds repeated rows of a request file.

import type { RepeatedRows } from './request-file.ts';
import { type Overflow, ROW_WORDS, RowBuckets } from './row-buckets.ts';
import { TokenTable } from './token-table.ts';

/** The number of repeats that are reported individually. */
const KEPT = 20;
const HASH_WORDS = 3;
/** Makes the letters in four bytes of a UUID lower-case. Its digits and dashes have this bit already. */
const LOWER_CASE = 0x20202020;

/** The place of a cell in bytes. */
export interface CellRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds rows that repeat the token and merchant of an earlier row, in bounded memory if it may use an overflow. A row that
 * repeats another is not sent, so 96 bits of hash distinguish them.
 */
export class RowRepeats {
  readonly #rows: RowBuckets;
  /** A word of the hash of the first row's merchant. */
  #merchant: number | undefined;
  #hasSeveralMerchants = false;
  readonly #tokenHash = new Int32Array(HASH_WORDS);
  readonly #merchantHash = new Int32Array(HASH_WORDS);

  constructor(openOverflow?: () => Promise<Overflow>, mostInMemory?: number) {
    this.#rows = new RowBuckets(openOverflow, mostInMemory);
  }

  /** Adds the row on `line`, given the content of two of its cells. A token that is a UUID is compared in lower case. */
  add(bytes: DataView, token: CellRange & { readonly isUuid: boolean }, merchant: CellRange, line: number): void {
    hashCell(this.#merchantHash, bytes, merchant, 0);
    hashCell(this.#tokenHash, bytes, token, token.isUuid ? LOWER_CASE : 0);
    // Destructuring would make an iterator for each row.
    const merchantHash = this.#merchantHash;
    const merchantFirst = merchantHash[0] ?? 0;
    const merchantSecond = merchantHash[1] ?? 0;
    const merchantThird = merchantHash[2] ?? 0;
    this.#merchant ??= merchantFirst;
    if (merchantFirst !== this.#merchant) this.#hasSeveralMerchants = true;
    // The result changes if the two cells are swapped.
    const tokenHash = this.#tokenHash;
    const tokenFirst = tokenHash[0] ?? 0;
    const tokenSecond = tokenHash[1] ?? 0;
    const tokenThird = tokenHash[2] ?? 0;
    const mixed = tokenFirst ^ (tokenSecond >>> 16) ^ Math.imul(merchantFirst, 0x9e3779b1);
    this.#rows.add(
      Math.imul(mixed, 0x27d4eb2f),
      tokenSecond ^ Math.imul(merchantSecond, 0xc2b2ae35),
      tokenThird ^ Math.imul(merchantThird, 0x165667b1),
      line,
    );
  }

  /** Moves rows out of memory if there are many. Callers call it now and then between rows. */
  async relieve(): Promise<void> {
    await this.#rows.relieve();
  }

  async found(): Promise<RepeatedRows> {
    const lines: number[] = [];
    const first: Repeat[] = [];
    const table = new TokenTable();
    for (const bucket of this.#rows.buckets()) {
      table.clear();
      for await (const piece of bucket) {
        for (let at = 0; at < piece.length; at += ROW_WORDS) {
          const line = piece[at + HASH_WORDS] ?? 0;
          const firstLine = table.setHashIfAbsent(piece, line, at);
          if (firstLine === 0) continue;
          lines.push(line);
          keepFirst(first, { line, firstLine });
        }
      }
    }
    await this.#rows.release();
    const inOrder = [...Int32Array.from(lines).toSorted()];
    return { count: lines.length, first, lines: inOrder, hasSeveralMerchants: this.#hasSeveralMerchants };
  }
}

type Repeat = RepeatedRows['first'][number];

/** Adds a repeat to the first 20, in the order of their lines. */
function keepFirst(first: Repeat[], repeat: Repeat): void {
  if (first.length === KEPT && repeat.line > (first.at(-1)?.line ?? 0)) return;
  first.splice(first.findLastIndex(({ line }) => line < repeat.line) + 1, 0, repeat);
  if (first.length > KEPT) first.pop();
}

/** Writes the words of a cell's hash to `hash`. `mask` is set in each four bytes of the cell. */
function hashCell(hash: Int32Array, bytes: DataView, { start, end }: CellRange, mask: number): void {
  let first = (end - start) | 0;
  let second = 0x9e3779b9 | 0;
  let third = 0x165667b1 | 0;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    first = Math.imul(first ^ (bytes.getInt32(at, true) | mask), 0x85ebca6b);
    second = Math.imul(second ^ (bytes.getInt32(at + 4, true) | mask), 0xc2b2ae35);
    first ^= second >>> 15;
    second ^= first >>> 13;
    third = Math.imul(third ^ first, 0x27d4eb2f) + second;
    third ^= third >>> 16;
  }
  for (; at < end; at += 1) {
    first = Math.imul(first ^ (bytes.getUint8(at) | (mask & 0xff)), 0x85ebca6b);
    second = Math.imul(second ^ (first >>> 15), 0xc2b2ae35);
    third = Math.imul(third ^ second, 0x27d4eb2f) + first;
    third ^= third >>> 16;
  }
  hash[0] = first;
  hash[1] = second;
  hash[2] = third;
}
