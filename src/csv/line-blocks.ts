import { LONGEST_LINE } from './request-file.ts';

/** Receives a file in whole lines. */
export interface LineReader {
  /** One or more lines, the last one ended. Valid during the call only. */
  lines(bytes: Uint8Array): void;
  /** Bytes of a line that is too long: its first ones, then the others as they come. */
  longBytes(bytes: Uint8Array): void;
  /** The long line is over; `first` are the first bytes of it. */
  longLine(first: Uint8Array): void;
}

/** Turns chunks, cut anywhere, into blocks of whole lines, without copying more than the line at each seam. */
export class LineBlocks {
  readonly #reader: LineReader;
  readonly #held = new Uint8Array(LONGEST_LINE + 2); // a line of the longest, and its line end
  #length = 0;
  #long = false;

  constructor(reader: LineReader) {
    this.#reader = reader;
  }

  /** Takes the next chunk. */
  feed(chunk: Uint8Array): void {
    let from = 0;
    if (this.#length > 0) {
      from = chunk.indexOf(LF) + 1;
      this.#hold(from === 0 ? chunk : chunk.subarray(0, from));
      if (from === 0) return;
      this.#endLine();
    }
    const to = chunk.lastIndexOf(LF) + 1;
    if (to > from) this.#reader.lines(chunk.subarray(from, to));
    this.#hold(chunk.subarray(Math.max(from, to)));
  }

  /** Ends the file; gives the last line when it has no line end and is not too long. */
  finish(): Uint8Array | undefined {
    if (this.#long) this.#reader.longLine(this.#held.subarray(0, this.#length));
    else if (this.#length > 0) return this.#held.subarray(0, this.#length);
    return undefined;
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (!this.#long && this.#length + bytes.length > this.#held.length) {
      this.#long = true;
      this.#reader.longBytes(this.#held.subarray(0, this.#length));
    }
    const kept = bytes.subarray(0, this.#held.length - this.#length);
    this.#held.set(kept, this.#length);
    this.#length += kept.length;
    if (this.#long) this.#reader.longBytes(bytes);
  }

  #endLine(): void {
    const line = this.#held.subarray(0, this.#length);
    if (this.#long) this.#reader.longLine(line);
    else this.#reader.lines(line);
    this.#length = 0;
    this.#long = false;
  }
}

const LF = 10;
