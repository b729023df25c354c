import { isAscii } from 'node:buffer';
import type { LineReader } from './line-blocks.ts';
import { readResultHeader, type ResultHeader, type ResultRow, toResultRow } from './result-row.ts';
import { splitCells } from './split-cells.ts';

/**
 * The quick way over a result file, as far as each row is one line: bare cells, or quoted ones that end on their line.
 * From the first line that is anything else on, it only gathers bytes, for csv-parse to judge; a test holds the two
 * together. As to csv-parse, a line feed within a file of CRLF lines belongs to a cell, and so does a carriage return
 * elsewhere than in front of a line feed there.
 */
export class PlainResults implements LineReader {
  /** The first line with its line end: with it, csv-parse can go on from any row. Empty until it was seen. */
  header: Uint8Array = new Uint8Array();
  /** Rows taken so far. */
  count = 0;
  /** Whether a line was met that is not for this way. */
  isOdd: boolean;
  /** All bytes from that line on. */
  readonly rest: Uint8Array[] = [];
  #columns: ResultHeader | undefined;
  #endsInCrLf = false;
  #rows: ResultRow[] = [];

  /** `slowly` leaves all to csv-parse. */
  constructor(slowly: boolean) {
    this.isOdd = slowly;
  }

  lines(bytes: Uint8Array): void {
    if (this.isOdd) return this.#leave(bytes);
    const start = this.#columns === undefined ? this.#takeHeader(bytes) : 0;
    if (this.#columns === undefined) this.#leave(bytes);
    else this.#takeRows(bytes.subarray(start), this.#columns);
  }

  longBytes(bytes: Uint8Array): void {
    this.#leave(bytes);
  }

  longLine(): void {
    // All of it came as bytes.
  }

  /** The last line of the file, where it has no line end. */
  lastLine(bytes: Uint8Array): void {
    if (!this.isOdd && this.#columns === undefined && this.#takeHeader(bytes) > 0) return;
    if (this.isOdd || this.#columns === undefined || !this.#takeLine(textOf(bytes), this.#columns))
      this.#leave(bytes);
  }

  /** The rows taken since it was last asked. */
  take(): readonly ResultRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Gives the offset behind the header, or 0 when it is not for this way. */
  #takeHeader(bytes: Uint8Array): number {
    const lineFeed = bytes.indexOf(LF);
    const end = lineFeed === -1 ? bytes.length : lineFeed;
    const text = withoutMark(textOf(bytes.subarray(0, end)));
    const line = lineFeed === -1 ? text : (withoutReturn(text) ?? text);
    const split = splitCells(line);
    // To csv-parse, a carriage return that comes first ends the lines.
    if (split.fault !== undefined || line === '' || line.includes('\r')) return 0;
    this.#endsInCrLf = line !== text;
    this.header = Uint8Array.from(bytes.subarray(0, end + 1));
    this.#columns = readResultHeader(split.cells);
    return this.header.length;
  }

  #takeRows(bytes: Uint8Array, columns: ResultHeader): void {
    const text = textOf(bytes);
    const isBare = !text.includes('"');
    for (let at = 0, taken = 0; at < text.length; taken += 1) {
      const end = text.indexOf('\n', at);
      const line = this.#endsInCrLf ? withoutReturn(text.slice(at, end)) : text.slice(at, end);
      if (line === undefined || !this.#takeLine(line, columns, isBare))
        return this.#leave(behindLines(bytes, taken));
      at = end + 1;
    }
  }

  /** False when the line is not for this way. */
  #takeLine(line: string, columns: ResultHeader, isBare = false): boolean {
    if (line === '') return true;
    const cells = isBare ? line.split(',') : cellsOf(line);
    if (cells?.length !== columns.width) return false;
    this.count += 1;
    this.#rows.push(toResultRow(cells, columns, this.count));
    return true;
  }

  /** The bytes are lent, so they are copied. */
  #leave(bytes: Uint8Array): void {
    this.isOdd = true;
    this.rest.push(Uint8Array.from(bytes));
  }
}

const LF = 10;

/** Most files are ASCII, which is decoded faster. */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Undefined where the quotes are not in order on this line. */
function cellsOf(line: string): readonly string[] | undefined {
  const split = splitCells(line);
  return split.fault === undefined ? split.cells : undefined;
}

/** Undefined where there is none at the end. */
function withoutReturn(line: string): string | undefined {
  return line.endsWith('\r') ? line.slice(0, -1) : undefined;
}

function behindLines(bytes: Uint8Array, count: number): Uint8Array {
  let at = 0;
  for (let line = 0; line < count; line += 1) at = bytes.indexOf(LF, at) + 1;
  return bytes.subarray(at);
}
