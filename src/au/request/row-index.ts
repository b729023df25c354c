import { LinesAt } from '../../base/files/lines-at.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import { LONGEST_LINE, REQUEST_HEADER } from './request-file.ts';
import { cellsOf, readRequest, type RequestRow, rowOf } from './request-lines.ts';
import { TokenTable } from './token-table.ts';

/** A range of rows in a checked request file, as two offsets in bytes. The header is not in the range. */
export interface RowRange {
  readonly rows: number;
  readonly start: number;
  readonly end: number;
}

/** The numbers of rows that were sent before. */
export interface SentCounts {
  /** Rows with the token and merchant of a row that was sent. */
  readonly sent: number;
  /** The subset of `sent` with another expiration than before. */
  readonly changed: number;
  /** Rows that ended in an error and are unchanged. A row with another expiration counts as new. */
  readonly unchangedErrors: number;
}

/** The mark of a row that was sent and did not end in an error. */
const SENT = 1;
/** The mark of a row that was sent with the same expiration. */
const SAME = 2;

/**
 * An index of the rows to send, by token and merchant, that marks the rows sent before. A row takes about 30 bytes of
 * memory. A hash only locates a row, and its cells are then compared in the file.
 */
export class RowIndex {
  readonly #file: string;
  readonly #ranges: readonly RowRange[];
  readonly #table = new TokenTable({ words: 2 });
  // These arrays are indexed by the number of a row, starting at 1. They contain its offset, the previous row with the
  // same hash, and its marks.
  readonly #offsets: Float64Array;
  readonly #previous: Int32Array;
  readonly #marks: Uint8Array;
  readonly #lines: LinesAt;

  private constructor(file: string, ranges: readonly RowRange[]) {
    const rows = ranges.reduce((sum, range) => sum + range.rows, 0);
    this.#file = file;
    this.#ranges = ranges;
    this.#offsets = new Float64Array(rows + 1);
    this.#previous = new Int32Array(rows + 1);
    this.#marks = new Uint8Array(rows + 1);
    this.#lines = new LinesAt(file, LONGEST_LINE + 2);
  }

  static async of(file: string, ranges: readonly RowRange[]): Promise<RowIndex> {
    const index = new RowIndex(file, ranges);
    await index.#addAll();
    return index;
  }

  async #addAll(): Promise<void> {
    let number = 0;
    for (const range of this.#ranges) {
      let offset = range.start;
      for await (const rows of readRequest((await rowsIn(this.#file, range)).open()))
        for (const row of rows) {
          number += 1;
          const slot = this.#table.find(keyOf(row));
          this.#offsets[number] = offset;
          this.#previous[number] = this.#table.valueAt(slot);
          this.#table.put(slot, number);
          offset += row.bytes;
        }
    }
  }

  get rows(): number {
    return this.#marks.length - 1;
  }

  /**
   * Marks the rows that are among rows sent before. A row that ended in an error is marked only if it is unchanged.
   * @returns the number of rows marked for the first time
   */
  async mark(sent: Pick<UploadSource, 'open'>, errors: ReadonlySet<string>): Promise<number> {
    let marked = 0;
    for await (const rows of readRequest(sent.open()))
      for (const row of rows) marked += this.#markRow(row, errors.has(row.token));
    return marked;
  }

  #markRow(sent: RequestRow, isError: boolean): number {
    const key = keyOf(sent);
    let marked = 0;
    let number = this.#table.valueAt(this.#table.find(key));
    for (; number !== 0; number = this.#previous[number] ?? 0) {
      const row = rowOf(this.#lines.lineAt(this.#offsets[number] ?? 0));
      if (row.line !== sent.line && keyOf(row) !== key) continue;
      const before = this.#marks[number] ?? 0;
      const after = before | (isError ? 0 : SENT) | (isSame(row, sent) ? SAME : 0);
      if (before === 0 && after !== 0) marked += 1;
      this.#marks[number] = after;
    }
    return marked;
  }

  counts(): SentCounts {
    const counts = { sent: 0, changed: 0, unchangedErrors: 0 };
    for (const mark of this.#marks) {
      if (mark === SENT) counts.changed += 1;
      if (mark === SAME) counts.unchangedErrors += 1;
      else if (mark !== 0) counts.sent += 1;
    }
    return counts;
  }

  /** Yields a request file of the rows that were not sent before, in pieces. */
  async *rest(): AsyncGenerator<string> {
    yield `${REQUEST_HEADER}\n`;
    let number = 0;
    for (const range of this.#ranges)
      for await (const rows of readRequest((await rowsIn(this.#file, range)).open())) {
        let piece = '';
        for (const { line } of rows) {
          number += 1;
          if (this.#marks[number] === 0) piece += `${line}\n`;
        }
        yield piece;
      }
  }

  close(): void {
    this.#lines.close();
  }
}

function rowsIn(file: string, { start, end }: RowRange): Promise<UploadSource> {
  return fileSource(file, { start, end, prefix: Buffer.from(`${REQUEST_HEADER}\n`) });
}

/** Returns the key of a row: the token and merchant, which are billed once a cycle. Cells never contain NUL. */
function keyOf(row: RequestRow): string {
  const { token, line } = row;
  const merchant = line.includes('"') ? (cellsOf(row)[3] ?? '') : line.slice(line.lastIndexOf(',') + 1);
  return merchant === '' ? token : `${token}\0${merchant}`;
}

/** Tells whether two rows have the same cells, regardless of their quotes. */
function isSame(a: RequestRow, b: RequestRow): boolean {
  return a.line === b.line || cellsOf(a).join('\0') === cellsOf(b).join('\0');
}
