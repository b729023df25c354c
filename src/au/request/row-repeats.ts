import type { RepeatedRows } from './request-file.ts';
import { slotsFor, TokenTable } from './token-table.ts';

/** The number of repeats that are reported individually. */
export const KEPT = 20;
/** The usual limit on different rows: ten times what one job takes, in 64 MiB. */
export const MOST_ROWS = 3 * 2 ** 20;
const HASH_WORDS = 3;
const BATCH = 256;
/** Makes the letters in four bytes of a UUID lower-case. Its digits and dashes have this bit already. */
const LOWER_CASE = 0x20202020;

/** The place of a cell in bytes. */
export interface CellRange {
  readonly start: number;
  readonly end: number;
}

/** One of several shares of all hashes, counted from 0. */
export interface HashShare {
  readonly number: number;
  readonly of: number;
}

/**
 * Finds rows that repeat the token and merchant of an earlier row, in bounded memory. A row that repeats another is not
 * sent, so 96 bits of hash distinguish them. After `most` different rows it remembers no further ones, and its result is
 * incomplete. With a share, it sees only the rows whose hash is in it.
 */
export class RowRepeats {
  readonly #first: { line: number; firstLine: number }[] = [];
  readonly #lines: number[] = [];
  /** A word of the hash of the first row's merchant. */
  #merchant: number | undefined;
  #hasSeveralMerchants = false;
  /** The line of each row. */
  readonly #table: TokenTable;
  // Rows to look up: the hash and the line of each. Their slots are far apart in memory, and lookups one after another let
  // the processor wait for several slots at once.
  readonly #hashes = new Int32Array(BATCH * HASH_WORDS);
  readonly #hashedLines = new Int32Array(BATCH);
  #waiting = 0;
  readonly #tokenHash = new Int32Array(HASH_WORDS);
  readonly #merchantHash = new Int32Array(HASH_WORDS);

  readonly #share: HashShare;

  constructor(most = MOST_ROWS, share: HashShare = { number: 0, of: 1 }) {
    this.#share = share;
    this.#table = new TokenTable({ words: HASH_WORDS, mostSlots: slotsFor(most) });
  }

  /** Adds the row on `line`, given the content of two of its cells. A token that is a UUID is compared in lower case. */
  add(bytes: DataView, token: CellRange & { readonly isUuid: boolean }, merchant: CellRange, line: number): void {
    hashCell(this.#merchantHash, bytes, merchant, 0);
    hashCell(this.#tokenHash, bytes, token, token.isUuid ? LOWER_CASE : 0);
    this.#merchant ??= this.#merchantHash[0];
    if (this.#merchantHash[0] !== this.#merchant) this.#hasSeveralMerchants = true;
    const at = this.#waiting * HASH_WORDS;
    writeRowHash(this.#hashes, at, this.#tokenHash, this.#merchantHash);
    const { number, of } = this.#share;
    // The next row replaces the hash of one that belongs to another share.
    if (of > 1 && ((this.#hashes[at + 1] ?? 0) >>> 0) % of !== number) return;
    this.#hashedLines[this.#waiting] = line;
    this.#waiting += 1;
    if (this.#waiting === BATCH) this.#lookUp();
  }

  found(): RepeatedRows {
    this.#lookUp();
    return {
      count: this.#lines.length,
      first: this.#first,
      lines: this.#lines,
      isComplete: !this.#table.isFull,
      hasSeveralMerchants: this.#hasSeveralMerchants,
    };
  }

  #lookUp(): void {
    for (let row = 0; row < this.#waiting; row += 1) {
      const line = this.#hashedLines[row] ?? 0;
      const firstLine = this.#table.setHashIfAbsent(this.#hashes, line, row * HASH_WORDS);
      if (firstLine !== 0) this.#repeat(line, firstLine);
    }
    this.#waiting = 0;
  }

  #repeat(line: number, firstLine: number): void {
    this.#lines.push(line);
    if (this.#first.length < KEPT) this.#first.push({ line, firstLine });
  }
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

/** Combines the hashes of two cells, with a result that changes if the cells are swapped. */
function writeRowHash(hashes: Int32Array, at: number, token: Int32Array, merchant: Int32Array): void {
  const [tokenFirst = 0, tokenSecond = 0, tokenThird = 0] = token;
  const [merchantFirst = 0, merchantSecond = 0, merchantThird = 0] = merchant;
  const mixed = tokenFirst ^ (tokenSecond >>> 16) ^ Math.imul(merchantFirst, 0x9e3779b1);
  hashes[at] = Math.imul(mixed, 0x27d4eb2f);
  hashes[at + 1] = tokenSecond ^ Math.imul(merchantSecond, 0xc2b2ae35);
  hashes[at + 2] = tokenThird ^ Math.imul(merchantThird, 0x165667b1);
}
