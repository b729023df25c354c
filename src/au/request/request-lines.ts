import { SvcError } from '../../base/errors.ts';
import { LF, LONGEST_LINE } from './request-file.ts';

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

/** The cells of one line, or what is wrong with its quotes. */
export type SplitCells =
  | { readonly cells: readonly string[]; readonly fault?: undefined }
  | { readonly fault: 'open' | 'stray' };

/**
 * Splits one line into cells (RFC 4180): quoted cells may contain commas, and quotes written twice. `open`: a quoted
 * cell does not end on this line. `stray`: a quote stands within an unquoted cell, or text behind a closing quote.
 */
export function splitCells(line: string): SplitCells {
  const cells: string[] = [];
  for (let at = 0; at <= line.length; at += 1) {
    if (line[at] !== '"') {
      const comma = line.indexOf(',', at);
      const end = comma === -1 ? line.length : comma;
      const cell = line.slice(at, end);
      if (cell.includes('"')) return { fault: 'stray' };
      cells.push(cell);
      at = end;
      continue;
    }
    const end = closingQuote(line, at + 1);
    if (end === -1) return { fault: 'open' };
    if (end + 1 < line.length && line[end + 1] !== ',') return { fault: 'stray' };
    cells.push(line.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 1;
  }
  return { cells };
}

function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 2)) {
    if (line[at + 1] !== '"') return at;
  }
  return -1;
}

const SMALL = 4 * 1024;

/**
 * Cuts what comes into pieces of at most 4 KiB. Rows are made of one piece at a time, and those of a small one are
 * gone again before they are moved among the lasting objects.
 */
async function* inSmallPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += SMALL) yield chunk.subarray(at, at + SMALL);
  }
}

export interface RequestRow {
  readonly token: string;
  /** The line of the file, without its line end. */
  readonly line: string;
  /** Size in the file, with a line end. */
  readonly bytes: number;
}

/**
 * Reads a request file that was checked before: a line is a row there. Gives the rows in batches, in flat memory.
 * @throws SvcError `conflict` when it is not the file that was checked
 */
export async function* readRequest(source: AsyncIterable<Uint8Array>): AsyncGenerator<readonly RequestRow[], void> {
  const lines = new Lines();
  const blocks = new LineBlocks(lines);
  for await (const piece of inSmallPieces(source)) {
    blocks.feed(piece);
    yield lines.take();
  }
  const last = blocks.finish();
  if (last !== undefined) lines.lines(last);
  yield lines.take();
}

/** The cells of a row, unquoted. */
export function cellsOf({ line }: Pick<RequestRow, 'line'>): readonly string[] {
  const split = splitCells(line);
  if (split.fault !== undefined) throw changedRequest();
  return split.cells;
}

function changedRequest(): SvcError {
  return new SvcError('conflict', 'the request file changed while it was read', {
    hint: 'Run the command again when nothing writes to the file.',
  });
}

class Lines implements LineReader {
  #rows: RequestRow[] = [];
  #isHeader = true;

  lines(bytes: Uint8Array): void {
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const line of this.#isHeader ? lines.slice(1) : lines) this.#rows.push(rowOf(line));
    this.#isHeader = false;
  }

  longBytes(): void {
    throw changedRequest();
  }

  longLine(): void {
    throw changedRequest();
  }

  take(): readonly RequestRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

/** The row of a line without its line feed. */
export function rowOf(text: string): RequestRow {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  const bytes = Buffer.byteLength(text) + 1;
  if (line.startsWith('"')) return { token: cellsOf({ line })[0] ?? '', line, bytes };
  const comma = line.indexOf(',');
  return { token: comma === -1 ? line : line.slice(0, comma), line, bytes };
}
