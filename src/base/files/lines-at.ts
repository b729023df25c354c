import fs from 'node:fs';
import { READ_WITHOUT_WAITING } from './own-file.ts';

const LF = 10;

/** What is read at once: lines in order take few reads, and lines in any order little more than themselves. */
const BLOCK = 8192;

/** Reads single lines of a file by their offset. */
export class LinesAt {
  readonly #fd: number;
  readonly #longest: number;
  readonly #memory: Buffer;
  #block: Buffer;
  #start = 0;

  /** `longest` is the size of the longest line, with its line end. */
  constructor(file: string, longest: number) {
    this.#fd = fs.openSync(file, READ_WITHOUT_WAITING);
    this.#longest = longest;
    this.#memory = Buffer.alloc(Math.max(BLOCK, longest));
    this.#block = this.#memory.subarray(0, 0);
  }

  /** The line at an offset, without its line feed. */
  lineAt(offset: number): string {
    // Neighbors on both sides may come next.
    if (this.#endOf(offset) === -1) this.#read(Math.max(0, offset - BLOCK / 2), BLOCK);
    if (this.#endOf(offset) === -1) this.#read(offset, this.#longest);
    const end = this.#endOf(offset);
    return this.#block.toString('utf8', offset - this.#start, end === -1 ? undefined : end);
  }

  /** Where the line at an offset ends in the block; -1 where the block does not have all of it. */
  #endOf(offset: number): number {
    const start = offset - this.#start;
    return start < 0 || start >= this.#block.length ? -1 : this.#block.indexOf(LF, start);
  }

  #read(start: number, most: number): void {
    this.#block = this.#memory.subarray(0, fs.readSync(this.#fd, this.#memory, 0, most, start));
    this.#start = start;
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
