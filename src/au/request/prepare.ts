import { createHash } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { csvRows } from '../../cli/output/csv.ts';
import { KEPT_COLUMNS } from '../results/kept-columns.ts';
import { type ExportRow, ExportRows, type Unreadable } from './export-rows.ts';
import {
  type ColumnChoice,
  type ColumnPlaces,
  type Delimiter,
  delimiterOf,
  findColumns,
  findKept,
  type PreparedColumn,
} from './prepare-columns.ts';
import type { DateOrder } from './prepare-date.ts';
import type { RowFinding } from './prepare-problems.ts';
import { type PreparedRows, RowPreparer, type TokenList } from './prepare-row.ts';
import { CR, LF, LONGEST_LINE, REQUEST_HEADER } from './request-file.ts';
import { checkHeader, utf16Order } from './request-rules.ts';

export interface PrepareOptions {
  /** The operator's choice of columns. Other columns are found by well-known names. */
  readonly columns?: readonly ColumnChoice[] | undefined;
  readonly dateOrder?: DateOrder | undefined;
  /** The names of columns to write to a separate file, for a later join by token. */
  readonly keep?: readonly string[] | undefined;
  /** The operator's list of tokens to leave out. */
  readonly exclusions?: TokenList | undefined;
  /** The size of the export in bytes, if known. It allows memory to be allocated in advance. */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes read so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

type Write = (text: string) => Promise<void>;

/** The functions that write the text of each output file, piece by piece. */
export interface PrepareOutputs {
  readonly request: Write;
  /** Writes refused rows with their lines and reasons. */
  readonly rejects?: Write | undefined;
  /** Writes the kept columns of each row of the request, with its number and token. */
  readonly keep?: Write | undefined;
}

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** The outcome of an export. The written files count only if there are no problems. */
export interface Prepared extends PreparedRows {
  /** The SHA-256 of the export in hexadecimal. */
  readonly sha256: string;
  readonly encoding: Encoding;
  readonly hasByteOrderMark: boolean;
  readonly delimiter: Delimiter;
  /** The name in the export of each recognized column. */
  readonly columns: Readonly<Partial<Record<PreparedColumn, string>>>;
  readonly leftOut: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Converts an export into a request file. Reads the export once, with constant memory, and writes the request piece by
 * piece. The same export always gives the same bytes.
 * @throws SvcError `refused_input` for a header that does not identify the columns
 */
export async function prepareRequest(
  source: AsyncIterable<Uint8Array>,
  outputs: PrepareOutputs,
  options: PrepareOptions = {},
): Promise<Prepared> {
  const hash = createHash('sha256');
  const pieces = watched(source, hash, options);
  try {
    return { ...(await prepareFrom(pieces, outputs, options)), sha256: hash.digest('hex') };
  } finally {
    // Stopping early closes the file. A silent pipe must not delay that.
    pieces.return(undefined).catch(() => undefined);
  }
}

async function prepareFrom(
  pieces: AsyncGenerator<Uint8Array, void>,
  outputs: PrepareOutputs,
  options: PrepareOptions,
): Promise<Omit<Prepared, 'sha256'>> {
  const head = await readHead(pieces);
  const encoding = encodingOf(head);
  const decoder = new TextDecoder(encoding);
  let text = decoder.decode(head, { stream: true });
  // In UTF-16, the byte of a line end also occurs within other characters.
  for await (const piece of takeWhile(pieces, () => !text.includes('\n') && text.length <= LONGEST_LINE))
    text += decoder.decode(piece, { stream: true });
  const header = text.split('\n', 1)[0] ?? '';
  requireExport(encoding === 'utf-8' ? firstLine(head) : Buffer.from(header.trimEnd()));
  const delimiter = delimiterOf(header);
  const reader = new ExportReader(options, expectedRows(head, options.size));
  const rows = new ExportRows(delimiter, (row) => reader.take(row));
  rows.feed(text);
  for await (const piece of pieces) {
    text = decoder.decode(piece, { stream: true });
    rows.feed(text);
    await reader.writeTo(outputs);
    if (rows.stop !== undefined) break;
  }
  rows.feed(decoder.decode());
  rows.finish();
  if (rows.stop !== undefined) reader.unreadable(rows.stop);
  await reader.writeTo(outputs);
  return { ...reader.finish(), encoding, delimiter, hasByteOrderMark: hasMark(head, encoding) };
}

const PIECE = 8 * 1024;

/**
 * Yields a file in small pieces and hashes it. The garbage collector frees the rows of a small piece cheaply, before it
 * promotes them to long-lived memory.
 */
async function* watched(
  source: AsyncIterable<Uint8Array>,
  hash: { update(piece: Uint8Array): unknown },
  { signal, onProgress }: PrepareOptions,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const chunk of source) {
    signal?.throwIfAborted();
    hash.update(chunk);
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
    bytes += chunk.length;
    onProgress?.(bytes);
  }
}

/** Reads pieces until the end of the first line. */
async function readHead(pieces: AsyncGenerator<Uint8Array, void>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  for await (const piece of takeWhile(pieces, () => !head.includes(LF) && head.length <= LONGEST_LINE))
    head = Buffer.concat([head, piece]);
  if (head.length === 0) throw new SvcError('refused_input', 'the export is empty');
  return head;
}

/** Yields pieces while more are wanted. The other pieces remain unread. */
async function* takeWhile(
  pieces: AsyncGenerator<Uint8Array, void>,
  isWanted: () => boolean,
): AsyncGenerator<Uint8Array, void> {
  while (isWanted()) {
    const { value, done } = await pieces.next();
    if (done === true) return;
    yield value;
  }
}

function encodingOf(head: Uint8Array): Encoding {
  const order = utf16Order(firstLine(head));
  if (order === undefined) return 'utf-8';
  return order === 'little' ? 'utf-16le' : 'utf-16be';
}

/** Estimates the number of rows from the length of the first lines, and adds a small reserve. */
function expectedRows(head: Uint8Array, size = 0): number {
  const lines = head.reduce((count, byte) => (byte === LF ? count + 1 : count), 0);
  return Math.ceil((size / head.length) * lines * 1.02);
}

function hasMark(head: Uint8Array, encoding: Encoding): boolean {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(head).startsWith('\uFEFF');
}

function firstLine(head: Uint8Array): Uint8Array {
  const end = head.indexOf(LF);
  const line = head.subarray(0, end === -1 ? head.length : end);
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}
/** Refuses a file that is no export: one that is not text, a result file, or one with a card number in its header. */
function requireExport(header: Uint8Array): void {
  const { findings, below } = checkHeader(header);
  const refused = findings.find(({ rule }) => rule === 'card_number' || rule === 'wrong_file');
  const found = refused ?? (below === 'nothing' ? findings[0] : undefined);
  if (found) throw new SvcError('refused_input', `line 1: ${found.problem}`, { facts: { rule: found.rule } });
}

/** Processes the rows of an export, starting with the header. */
class ExportReader {
  readonly #options: PrepareOptions;
  #names: readonly string[] = [];
  #places: ColumnPlaces = {};
  #kept: readonly number[] = [];
  #rows: RowPreparer | undefined;
  readonly #expectedRows: number;
  #request = `${REQUEST_HEADER}\n`;
  /** Functions that create the rows of the rejects file. They run only if that file is written. */
  #rejects: (() => readonly string[])[] = [];
  #keep: string[][] = [];
  #count = 0;

  constructor(options: PrepareOptions, expectedRows: number) {
    this.#options = options;
    this.#expectedRows = expectedRows;
  }

  take(row: ExportRow): void {
    if (this.#rows === undefined) return this.#takeHeader(row.cells.map((cell) => cell.trim()));
    const made = this.#rows.take(row);
    if (made === undefined) return;
    const { finding } = made;
    if (finding === undefined) this.#takePrepared(row.cells, made);
    else this.#rejects.push(() => [String(row.line), reasonOf(finding), ...shownCells(row.cells, finding)]);
  }

  /** Writes everything produced since the last call. */
  async writeTo({ request, rejects, keep }: PrepareOutputs): Promise<void> {
    const text = this.#request;
    const [rejected, kept] = [this.#rejects, this.#keep];
    this.#request = '';
    this.#rejects = [];
    this.#keep = [];
    await request(text);
    if (rejected.length > 0) await rejects?.(csvRows(rejected.map((row) => row())));
    if (kept.length > 0) await keep?.(csvRows(kept));
  }

  unreadable({ why, line }: { readonly why: Unreadable; readonly line: number }): void {
    const problem = `${UNREADABLE[why]}; nothing below was read`;
    if (this.#rows === undefined) throw new SvcError('refused_input', `line 1: ${problem}`);
    this.#rows.refuse(line, { rule: 'quoting', problem });
    this.#rejects.push(() => [String(line), problem, ...this.#names.map(() => '')]);
  }

  finish(): Pick<Prepared, keyof PreparedRows | 'columns' | 'leftOut' | 'kept'> {
    if (this.#rows === undefined) throw new SvcError('refused_input', 'the export is empty');
    const places = Object.entries(this.#places).map(([column, at]) => [column, this.#names[at] ?? ''] as const);
    const used = new Set([...Object.values(this.#places), ...this.#kept]);
    return {
      ...this.#rows.finish(),
      columns: Object.fromEntries(places),
      leftOut: this.#names.filter((_, at) => !used.has(at)),
      kept: this.#kept.map((at) => this.#names[at] ?? ''),
    };
  }

  #takePrepared(cells: readonly string[], { token, text }: { readonly token: string; readonly text: string }): void {
    this.#request += text;
    this.#count += 1;
    if (this.#kept.length > 0)
      this.#keep.push([String(this.#count), token, ...this.#kept.map((at) => onOneLine(cells[at] ?? ''))]);
  }

  #takeHeader(names: readonly string[]): void {
    const { columns = [], dateOrder, keep = [], exclusions } = this.#options;
    this.#names = names;
    this.#places = findColumns(names, columns);
    this.#kept = findKept(names, keep);
    this.#rejects.push(() => ['line', 'reason', ...names]);
    if (this.#kept.length > 0) this.#keep.push([...KEPT_COLUMNS, ...this.#kept.map((at) => names[at] ?? '')]);
    this.#rows = new RowPreparer({
      places: this.#places,
      width: names.length,
      kept: this.#kept,
      order: dateOrder,
      exclusions,
      expectedRows: this.#expectedRows,
    });
  }
}

/** Puts a cell on one line, so that every row of kept columns is one line and can be read by its offset. */
function onOneLine(cell: string): string {
  return cell.trim().replaceAll(/\s*[\r\n]\s*/g, ' ');
}

function reasonOf({ column, problem }: RowFinding): string {
  return column === undefined ? problem : `${column} ${problem}`;
}

/**
 * Returns the cells of a refused row, or empty ones if the row may contain a card number, even one spread over cells.
 */
function shownCells(cells: readonly string[], { rule }: RowFinding): readonly string[] {
  const isHidden = rule === 'card_number' || containsCardNumber(cells.join(' '), 'cell');
  return isHidden ? cells.map(() => '') : cells;
}

const UNREADABLE: Readonly<Record<Unreadable, string>> = {
  too_long: 'the row is longer than 65536 characters: is a quote not closed?',
  open_quote: 'a quoted cell does not end',
  stray_quote: 'a quote stands inside a cell; quote the whole cell and write the quote twice',
};
