// Reads and writes the lines and rows of a request file.

import { SvcError } from '../../base/errors.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { splitCells } from '../csv-rows.ts';
import { LF, MAX_LINE_LENGTH } from './request-file.ts';
import { rowKey } from './row-key.ts';

/** A receiver of the complete lines of a file. */
export interface LineReader {
  /** Receives one or more complete lines. The bytes are valid only during the call. */
  lines(bytes: Uint8Array): void;
  /** Receives bytes of a line that is too long: the first ones, then the others as they arrive. */
  longBytes(bytes: Uint8Array): void;
  /** Marks the end of a line that was too long. `first` are its first bytes. */
  longLine(first: Uint8Array): void;
}

/**
 * Converts chunks of any size into blocks of complete lines. Copies only the lines that cross the boundary of two
 * chunks.
 */
export class LineBlocks {
  readonly #reader: LineReader;
  // A line of the longest, and its line end. A `Buffer`, as the chunks are: for a second kind of array, V8 compiles all code again.
  readonly #held = Buffer.alloc(MAX_LINE_LENGTH + 2);
  #length = 0;
  #long = false;

  constructor(reader: LineReader) {
    this.#reader = reader;
  }

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

  /** Ends the file. Returns a last line without a line end, unless it is too long. */
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

/**
 * Cuts chunks into small pieces, of at most `length` bytes. The garbage collector frees the rows of a small piece cheaply, before
 * it promotes them to long-lived memory.
 */
export async function* inSmallPieces(
  source: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += length) yield chunk.subarray(at, at + length);
}

/** The length of the pieces in which a request is read, in bytes. */
const PIECE_LENGTH = 4 * 1024;

export interface RequestRow {
  readonly token: string;
  /** The line in the file, without its line end. */
  readonly line: string;
}

/**
 * Yields the rows of a valid request file in batches, with constant memory. In a valid file, every line is a row.
 * @throws SvcError `conflict` for a file that has changed since the check
 */
export async function* readRequest(source: AsyncIterable<Uint8Array>): AsyncGenerator<readonly RequestRow[], void> {
  const decoder = new TextDecoder();
  let isHeader = true;
  let rest = '';
  for await (const piece of inSmallPieces(source, PIECE_LENGTH)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_LENGTH) throw changedRequest();
    if (lines.length === 0) continue;
    yield (isHeader ? lines.slice(1) : lines).map(rowOf);
    isHeader = false;
  }
  if (rest !== '' && !isHeader) yield [rowOf(rest)];
}

/** Cells that are never quoted. */
const PLAIN = /^[\w.:/-]*$/;

/** Returns the line of a row, without its line end. Most rows are plain, which is found faster than csv-stringify begins. */
export function requestLine(cells: readonly string[]): string {
  return cells.every((cell) => PLAIN.test(cell)) ? cells.join(',') : csvRow(cells).trimEnd();
}

/** Returns the unquoted cells of a row. */
export function cellsOf({ line }: Pick<RequestRow, 'line'>): readonly string[] {
  const split = splitCells(line);
  if (split.fault !== undefined) throw changedRequest();
  return split.cells;
}

/** Returns the merchant of a row. */
export function merchantOf(row: RequestRow): string {
  const { line } = row;
  return line.includes('"') ? (cellsOf(row)[3] ?? '') : line.slice(line.lastIndexOf(',') + 1);
}

/** Returns the key of a row: its token and merchant. */
export function rowKeyOf(row: RequestRow): string {
  return rowKey(row.token, merchantOf(row));
}

function changedRequest(): SvcError {
  return new SvcError('conflict', 'the request file changed while it was read', {
    hint: 'Run the command again when nothing writes to the file.',
  });
}

/** Parses the row in a line without a line feed. */
function rowOf(text: string): RequestRow {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  if (line.startsWith('"')) return { token: cellsOf({ line })[0] ?? '', line };
  const comma = line.indexOf(',');
  return { token: comma === -1 ? line : line.slice(0, comma), line };
}
