import fs from 'node:fs';
import { READ_WITHOUT_WAITING } from './own-file.ts';

const LF = 10;

/** The bytes of one read: a compromise between lines that are read in order and single lines. */
const BLOCK_BYTES = 8192;

/** Reads single lines of a file by their offset. */
export class LinesAt {
  readonly #fd: number;
  readonly #longest: number;
  readonly #memory: Buffer;
  #block: Buffer;
  #start = 0;

  /** `longest` is the size of the file's longest line in bytes, with its line end. */
  constructor(file: string, longest: number) {
    this.#fd = fs.openSync(file, READ_WITHOUT_WAITING);
    this.#longest = longest;
    this.#memory = Buffer.alloc(Math.max(BLOCK_BYTES, longest));
    this.#block = this.#memory.subarray(0, 0);
  }

  /** Returns the line at an offset, without its line feed. */
  lineAt(offset: number): string {
    // Reads on both sides of the offset, since a line before or after may be next.
    if (this.#endOf(offset) === -1) this.#read(Math.max(0, offset - BLOCK_BYTES / 2), BLOCK_BYTES);
    if (this.#endOf(offset) === -1) this.#read(offset, this.#longest);
    const end = this.#endOf(offset);
    return this.#block.toString('utf8', offset - this.#start, end === -1 ? undefined : end);
  }

  /** Returns the end of a line within the block; -1 if the block does not contain the whole line. */
  #endOf(offset: number): number {
    const start = offset - this.#start;
    return start < 0 || start >= this.#block.length ? -1 : this.#block.indexOf(LF, start);
  }

  #read(start: number, length: number): void {
    this.#block = this.#memory.subarray(0, fs.readSync(this.#fd, this.#memory, 0, length, start));
    this.#start = start;
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
