import { createHash, type Hash } from 'node:crypto';
import type { Room } from './plain-rows.ts';
import type { RequestFilePart, RequestLimits } from './request-file.ts';

/** Cuts a file into parts within the limits while it is read once, and hashes the whole and each part. */
export class Parts {
  readonly #limits: RequestLimits;
  readonly #whole = createHash('sha256');
  readonly #done: RequestFilePart[] = [];
  /** Of the part under way; the first part starts as the whole does, so it needs none of its own. */
  #hash: Hash | undefined;
  #header: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;
  #firstRow = 1;
  #rows = 0;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /** The header line with its line end; it goes in front of every part. */
  begin(header: Uint8Array): void {
    this.#header = Uint8Array.from(header);
    this.#whole.update(header);
    this.#start = header.length;
    this.#end = header.length;
  }

  /** Whether the next row, of this many bytes, must go into another part. A part takes one row at the least. */
  isFull(bytes: number): boolean {
    const { rows, end } = this.room(0);
    return this.#rows > 0 && (rows <= 0 || bytes > end);
  }

  /** What the part under way can still take, where the next row starts at `at` of what is being read. */
  room(at: number): Room {
    const rows = this.#limits.rows - this.#rows;
    return { rows, end: at + this.#limits.bytes - this.#header.length - (this.#end - this.#start) };
  }

  /** Counts rows, the bytes of which will be hashed later. Lines that are no rows count as bytes only. */
  count(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#end += bytes;
  }

  /** Hashes bytes of the part under way. */
  hash(bytes: Uint8Array): void {
    this.#whole.update(bytes);
    this.#hash?.update(bytes);
  }

  /** Ends the part under way and starts the next; all its bytes must have been hashed. A part without rows goes on. */
  cut(): void {
    if (this.#rows === 0) return;
    const hash = this.#hash ?? this.#whole.copy();
    this.#done.push({
      firstRow: this.#firstRow,
      rows: this.#rows,
      start: this.#start,
      end: this.#end,
      bytes: this.#header.length + this.#end - this.#start,
      sha256: hash.digest('hex'),
    });
    this.#hash = createHash('sha256').update(this.#header);
    this.#firstRow += this.#rows;
    this.#start = this.#end;
    this.#rows = 0;
  }

  /** All parts, and the hash of the whole. */
  finish(): { sha256: string; parts: readonly RequestFilePart[]; headerBytes: number } {
    this.cut();
    return { sha256: this.#whole.digest('hex'), parts: this.#done, headerBytes: this.#header.length };
  }
}
