import fs from 'node:fs';
import { READ_WITHOUT_WAITING } from './own-file.ts';

const LF = 10;

/** Reads single lines of a file by their offset. Lines near each other, in either order, take one read. */
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
    this.#memory = Buffer.alloc(4 * longest);
    this.#block = this.#memory.subarray(0, 0);
  }

  /** The line at an offset, without its line feed. */
  lineAt(offset: number): string {
    const isWithin = offset >= this.#start && offset + this.#longest <= this.#start + this.#block.length;
    if (!isWithin) this.#read(Math.max(0, offset - 2 * this.#longest));
    const start = offset - this.#start;
    const end = this.#block.indexOf(LF, start);
    return this.#block.toString('utf8', start, end === -1 ? undefined : end);
  }

  #read(start: number): void {
    this.#block = this.#memory.subarray(0, fs.readSync(this.#fd, this.#memory, 0, this.#memory.length, start));
    this.#start = start;
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
