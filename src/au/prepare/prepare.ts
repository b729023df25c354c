// Reads an export row by row, and writes the request and the other output files.

import { createHash } from 'node:crypto';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { csvRows } from '../../cli/output/csv.ts';
import { countText } from '../../cli/output/time.ts';
import { CR, type Finding, LF, MAX_LINE_LENGTH, REQUEST_HEADER } from '../request/request-file.ts';
import { CARD_NUMBER, checkHeader, utf16Order } from '../request/request-rules.ts';
import { isUuid } from '../request/row-key.ts';
import type { Overflow } from '../request/row-buckets.ts';
import { headerName, KEPT_COLUMNS, onOneLine } from '../results/kept-columns.ts';
import { CSV_FAULTS, type CsvFault, type CsvRow, CsvRows, type Delimiter, splitCells } from '../csv-rows.ts';
import type { Check } from '../request/checks.ts';
import {
  cardInTitle,
  findHeader,
  type Header,
  isDataRow,
  MAX_HEAD_LINES,
  namesTokens,
  withoutHeader,
  columnsOfRows,
} from './find-header.ts';
import { type DecodedText, type Encoding, type ExportDecoder, exportDecoder } from './export-text.ts';
import { ExpirationCandidates } from './expiration-candidates.ts';
import type { RepeatedRows } from './late-rows.ts';
import { MerchantCandidates, type MerchantColumns } from './merchant-candidates.ts';
import {
  type ColumnChoice,
  type ColumnPlaces,
  findColumns,
  findKept,
  isTokenName,
  type PreparedColumn,
} from './prepare-columns.ts';
import { dateOrders, type Expiration } from './prepare-date.ts';
import type { RowFinding } from './prepare-problems.ts';
import { RepeatColumns } from './repeat-columns.ts';
import {
  type ChangeKind,
  isBlank,
  type PreparedRow,
  type PreparedRows,
  RowPreparer,
  type TokenList,
} from './prepare-row.ts';

export interface PrepareOptions {
  /** The operator's choice of columns. Other columns are found by well-known names. */
  readonly columns?: readonly ColumnChoice[] | undefined;
  /** The names of all columns of an export without a header, in their order. */
  readonly columnNames?: readonly string[] | undefined;
  /** Whether quotes are text, because the format has none. */
  readonly noQuotes?: boolean | undefined;
  /** The orders in which to read ambiguous dates; each text may name several, with commas. */
  readonly dateOrder?: readonly string[] | undefined;
  /** Whether the operator said that no column is the expiration, so that none is proposed. */
  readonly noExpiration?: boolean | undefined;
  /** Whether the operator said that no column is the merchant, so that none is proposed. */
  readonly noMerchant?: boolean | undefined;
  /** The time zone in whose calendar times with a zone are read. Default: the zone that each time names. */
  readonly dateZone?: string | undefined;
  /** Words that mean "no merchant", such as NA. */
  readonly empty?: readonly string[] | undefined;
  /** Whether the operator said that such words are names of merchants. */
  readonly noEmpty?: boolean | undefined;
  /** The checks whose findings the operator accepts. */
  readonly accept?: readonly Check[] | undefined;
  /** Whether tokens of another shape than a UUID are refused, because an earlier reading found that most are UUIDs. */
  readonly onlyUuids?: boolean | undefined;
  /** The time that dates are compared with, in milliseconds. */
  readonly now?: number | undefined;
  /** The later expirations that an earlier reading found, by the keys of their rows. */
  readonly laterDates?: ReadonlyMap<string, Expiration> | undefined;
  /** The rows that an earlier reading wrote more than once. */
  readonly lateRepeats?: RepeatedRows | undefined;
  /** Opens a file for the hashes of rows that do not fit into memory. Default: memory takes all. */
  readonly openOverflow?: (() => Promise<Overflow>) | undefined;
  /** The limit on slots for rows whose repeats are found at once. For tests. */
  readonly mostSlots?: number | undefined;
  /** The names of columns to write to a separate file, for a later join by token. */
  readonly keep?: readonly string[] | undefined;
  /** The operator's list of tokens to leave out. */
  readonly exclusions?: TokenList | undefined;
  /** The size of the export in bytes, if known. It allows memory to be allocated in advance. */
  readonly size?: number | undefined;
  /** The name of the export in messages. */
  readonly name?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The first columns of a file of refused rows. */
export const REJECTS_COLUMNS = ['line', 'reason'] as const;

type Write = (text: string) => Promise<void>;

/** The functions that write the text of each output file, piece by piece. */
export interface PrepareOutputs {
  readonly request: Write;
  /** Writes refused rows with their lines and reasons. */
  readonly rejects?: Write | undefined;
  /** Writes the kept columns of each row of the request, with its number and token. */
  readonly keep?: Write | undefined;
}

/** The outcome of an export. The written files count only if there are no problems. */
export interface Prepared extends PreparedRows {
  /** The SHA-256 of the export in hexadecimal. */
  readonly sha256: string;
  readonly encoding: Encoding;
  readonly hasByteOrderMark: boolean;
  readonly delimiter: Delimiter;
  /** The number of lines above the header. */
  readonly titleLines: number;
  /** The name in the export of each recognized column. */
  readonly columns: Readonly<Partial<Record<PreparedColumn, string>>>;
  readonly leftOut: readonly string[];
  /** The names of columns that look like the expiration, if that is not known. */
  readonly candidates: readonly string[];
  /** The names of columns that look like the merchant, if that is not known. */
  readonly merchants: Readonly<Record<keyof MerchantColumns, readonly string[]>>;
  /** The names of columns that tell repeated rows apart, if the merchant is not known. */
  readonly tellingApart: readonly string[];
  readonly kept: readonly string[];
}

/** Counts the rows of an export that are not in its request, by reason. Blank lines and headers are no rows. */
export function droppedRows({ changes, problemCount }: Pick<Prepared, 'changes' | 'problemCount'>) {
  const count = (kind: ChangeKind): number => changes.find((change) => change.kind === kind)?.count ?? 0;
  return {
    repeated_tokens: count('repeated_tokens'),
    excluded_tokens: count('excluded_tokens'),
    refused: problemCount,
  };
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
  const head = await readHead(pieces, options);
  const encoding = encodingOf(head);
  const decoder = exportDecoder(encoding);
  const { start, header } = await readHeader(pieces, { head, encoding, decoder }, options);
  const { delimiter, skipped } = header;
  const reader = new ExportReader(options, header, expectedRows(head, options.size));
  const form = { ...QUOTING, delimiter, hasQuotes: options.noQuotes !== true };
  const rows = new CsvRows({ ...form, longestRow: MAX_ROW_LENGTH }, (row) => reader.take(row));
  for (const part of start) rows.feed(part.text, part.converted);
  for await (const piece of pieces) {
    const next = decoder.decode(piece);
    rows.feed(next.text, next.converted);
    await reader.writeTo(outputs);
    await reader.relieve();
    if (rows.stop !== undefined) break;
  }
  const rest = decoder.finish();
  rows.feed(rest.text, rest.converted);
  const { endsWithLineEnd } = rows;
  rows.finish();
  reader.takeLast(endsWithLineEnd);
  if (rows.stop !== undefined) reader.unreadable(rows.stop);
  await reader.writeTo(outputs);
  return {
    ...(await reader.finish()),
    encoding,
    delimiter,
    titleLines: skipped,
    hasByteOrderMark: hasMark(head, encoding),
  };
}

/**
 * Returns the form of an export: a hash of its column names, or their number without a header. Exports of the same form have the
 * same. Undefined if no header can be found.
 */
export async function formOf(source: AsyncIterable<Uint8Array>, options: PrepareOptions): Promise<string | undefined> {
  const pieces = watched(source, { update: () => undefined }, {});
  try {
    const head = await readHead(pieces, options);
    const encoding = encodingOf(head);
    const { header } = await readHeader(pieces, { head, encoding, decoder: exportDecoder(encoding) }, options);
    const { cells = [] } = splitCells(header.text, { ...QUOTING, delimiter: header.delimiter }) as Partial<CsvRow>;
    const names = cells.map(headerName);
    if (isDataRow(names)) return countText(names.length, 'column');
    return createHash('sha256').update(JSON.stringify(names)).digest('hex');
  } catch (error) {
    if (isSvcError(error, 'refused_input')) return undefined;
    throw error;
  } finally {
    pieces.return(undefined).catch(() => undefined);
  }
}

const QUOTING = { allowsPadding: true, allowsInnerQuotes: true } as const;

interface Beginning {
  readonly head: Buffer;
  readonly encoding: Encoding;
  readonly decoder: ExportDecoder;
}

/** Finds the header of an export, and returns it with the text that was read. */
async function readHeader(
  pieces: AsyncGenerator<Uint8Array, void>,
  { head, encoding, decoder }: Beginning,
  options: PrepareOptions,
): Promise<{ readonly start: readonly DecodedText[]; readonly header: Header }> {
  const { name = 'the export', columnNames, columns = [] } = options;
  const start = [decoder.decode(head)];
  const textSoFar = (): string => start.map(({ text }) => text).join('');
  const tokenName = columns.find(({ column }) => column === 'token')?.name;
  // In UTF-16, the byte of a line end also occurs within other characters. Lines of a title may stand above the header.
  const isWanted = (): boolean => {
    const text = textSoFar();
    const [first = '', ...others] = text.split('\n', MAX_HEAD_LINES + 1);
    const isHeader = others.length > 0 && (columnNames !== undefined || namesTokens(first, tokenName));
    return !isHeader && others.length < MAX_HEAD_LINES && text.length <= MAX_LINE_LENGTH;
  };
  for await (const piece of takeWhile(pieces, isWanted)) start.push(decoder.decode(piece));
  if (!textSoFar().includes('\n')) start.push(decoder.finish());
  const lines = textSoFar().split('\n', MAX_HEAD_LINES);
  requireExport(encoding === 'utf-8' ? firstLine(head) : Buffer.from((lines[0] ?? '').trimEnd()), options);
  const header = findHeader(lines, { name, tokenName, hasHeader: columnNames === undefined });
  const inTitle = cardInTitle(lines.slice(0, header.skipped));
  if (inTitle) throw refusedHeader(inTitle, options);
  if (header.skipped > 0) requireExport(Buffer.from(header.text), options);
  return { start, header };
}

/** The longest row of an export, in characters. */
const MAX_ROW_LENGTH = 64 * 1024;

const PIECE = 8 * 1024;

/**
 * Yields a file in small pieces and hashes it. The garbage collector frees the rows of a small piece cheaply, before it
 * promotes them to long-lived memory.
 */
async function* watched(
  source: AsyncIterable<Uint8Array>,
  hash: { update(piece: Uint8Array): unknown },
  { signal }: PrepareOptions,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source) {
    signal?.throwIfAborted();
    hash.update(chunk);
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
  }
}

/** Reads pieces until the end of the first line. */
async function readHead(pieces: AsyncGenerator<Uint8Array, void>, options: PrepareOptions): Promise<Buffer> {
  let head = Buffer.alloc(0);
  for await (const piece of takeWhile(pieces, () => !head.includes(LF) && head.length <= MAX_LINE_LENGTH))
    head = Buffer.concat([head, piece]);
  if (head.length === 0) throw emptyExport(options);
  return head;
}

function emptyExport({ name = 'the export' }: PrepareOptions): SvcError {
  return new SvcError('refused_input', `${name} is empty`, { hint: 'Check that the export is complete.' });
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
function requireExport(header: Uint8Array, options: PrepareOptions): void {
  const { findings, below } = checkHeader(header);
  const refused = findings.find(({ rule }) => rule === 'card_number' || rule === 'wrong_file');
  const finding = refused ?? (below === 'nothing' ? findings[0] : undefined);
  if (finding) throw refusedHeader(finding, options);
}

function refusedHeader({ problem, rule }: Finding, { name = 'the export' }: PrepareOptions): SvcError {
  return new SvcError('refused_input', `${name}, line 1: ${problem}`, { facts: { rule } });
}

/** Processes the rows of an export, starting with the header. */
class ExportReader {
  readonly #options: PrepareOptions;
  readonly #header: Header;
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
  /** The number of refused rows. */
  #refused = 0;
  /** The first row and the number of rows, as long as all rows differ from the header in the same number of cells. */
  #otherWidth: { readonly cells: readonly string[]; rows: number } | undefined;
  /** A row without a token, which is left out if it is the last one. */
  #withoutToken: CsvRow | undefined;
  #candidates: ExpirationCandidates | undefined;
  #merchants: MerchantCandidates | undefined;
  #repeats: RepeatColumns | undefined;

  constructor(options: PrepareOptions, header: Header, expectedRows: number) {
    this.#options = options;
    this.#header = header;
    this.#expectedRows = expectedRows;
  }

  take(row: CsvRow): void {
    if (row.line <= this.#header.skipped) return;
    const rows = this.#rows ?? this.#takeHeader(row);
    if (rows === undefined) return;
    if (row.lines !== undefined) this.#requireQuotes(row, row.lines);
    if (this.#withoutToken !== undefined && !isBlank(row)) {
      const earlier = this.#withoutToken;
      this.#withoutToken = undefined;
      this.#takeRow(rows, earlier);
    }
    if (rows.isTotal(row)) this.#withoutToken = row;
    else this.#takeRow(rows, row);
  }

  /** Ends the rows: leaves out the last one if it has no token and is whole. */
  takeLast(endsWithLineEnd: boolean): void {
    const row = this.#withoutToken;
    if (row !== undefined) this.#takeMade(row, this.#rows?.takeTotal(row, endsWithLineEnd));
  }

  #takeRow(rows: RowPreparer, row: CsvRow): void {
    this.#candidates?.take(row.cells);
    this.#merchants?.take(row.cells);
    this.#takeMade(row, rows.take(row));
  }

  #takeMade(row: CsvRow, made: PreparedRow | undefined): void {
    if (made === undefined) return;
    const { finding } = made;
    if (finding === undefined) return this.#takePrepared(row.cells, made);
    this.#refused += 1;
    if (finding.rule === 'columns') {
      this.#otherWidth ??= { cells: row.cells, rows: 0 };
      if (row.cells.length === this.#otherWidth.cells.length) this.#otherWidth.rows += 1;
    }
    this.#rejects.push(() => [String(row.line), reasonOf(finding), ...shownCells(row.cells, finding)]);
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

  unreadable({ why, line }: { readonly why: CsvFault; readonly line: number }): void {
    const problem = `${FAULTS[why]}; nothing below was read`;
    if (this.#rows === undefined) {
      const { name = 'the export' } = this.#options;
      throw new SvcError('refused_input', `${name}, line 1: ${problem}`);
    }
    this.#rows.refuse(line, { rule: 'quoting', problem });
    this.#rejects.push(() => [String(line), problem, ...this.#names.map(() => '')]);
  }

  /** Moves hashes of rows out of memory if there are many. */
  async relieve(): Promise<void> {
    await this.#rows?.relieve();
  }

  async finish(): Promise<
    Pick<Prepared, keyof PreparedRows | 'columns' | 'leftOut' | 'candidates' | 'merchants' | 'tellingApart' | 'kept'>
  > {
    if (this.#rows === undefined) throw emptyExport(this.#options);
    const { cells, rows = 0 } = this.#otherWidth ?? {};
    if (cells && this.#count === 0 && rows === this.#refused) throw this.#otherHeader(cells);
    const places = Object.entries(this.#places).map(([column, at]) => [column, this.#names[at] ?? ''] as const);
    const namesOf = (found: readonly number[] = []): string[] => found.map((at) => this.#names[at] ?? '');
    const merchants = this.#merchants?.found();
    const used = new Set([...Object.values(this.#places), ...this.#kept]);
    return {
      ...(await this.#rows.finish()),
      columns: Object.fromEntries(places),
      leftOut: this.#names.filter((_, at) => !used.has(at)),
      candidates: namesOf(this.#candidates?.found()),
      merchants: { likely: namesOf(merchants?.likely), doubtful: namesOf(merchants?.doubtful) },
      tellingApart: namesOf(this.#repeats?.found()),
      kept: namesOf(this.#kept),
    };
  }

  #takePrepared(cells: readonly string[], { token, text }: { readonly token: string; readonly text: string }): void {
    this.#request += text;
    this.#count += 1;
    if (this.#kept.length > 0)
      this.#keep.push([String(this.#count), token, ...this.#kept.map((at) => onOneLine(cells[at] ?? ''))]);
  }

  /** Refuses a cell whose lines look like rows: a format without quoting may have a quote in two cells. */
  #requireQuotes({ cells, line }: CsvRow, lines: readonly string[]): void {
    const { accept = [] } = this.#options;
    const { token: place = 0 } = this.#places;
    if (accept.includes('quotes') || !lookLikeRows(lines, cells, { ...this.#header, width: this.#names.length, place }))
      return;
    const problem = `a quote opens on line ${line} and closes on line ${line + lines.length - 1}, and these lines look like rows`;
    throw new SvcError('refused_input', problem, {
      hint: 'Nothing was written. If this format quotes no cell, read it without quotes; if a cell has these lines, accept that:',
      facts: { needs: 'quotes', check: 'quotes', line },
    });
  }

  /** Returns the error for a header that has more or fewer cells than every row. */
  #otherHeader(cells: readonly string[]): SvcError {
    const { columnNames } = this.#options;
    const what = columnNames === undefined ? `line ${this.#header.skipped + 1} is a header with` : '--columns names';
    const problem = `${what} ${countText(this.#names.length, 'column')}, and each row has ${countText(cells.length, 'cell')}`;
    const kept = Object.fromEntries(this.#kept.map((at) => [this.#names[at] ?? '', at]));
    const proposed = columnsOfRows({ ...kept, ...this.#places }, this.#names.length, cells).join(',');
    return new SvcError('refused_input', problem, { facts: { needs: 'columns', proposed } });
  }

  /** Takes the header, or the first row if the operator named the columns. Returns the preparer of that first row. */
  #takeHeader(row: CsvRow): RowPreparer | undefined {
    const header = row.cells.map(headerName);
    const { columns = [], dateOrder = [], keep = [], noExpiration, noMerchant, now } = this.#options;
    const { exclusions, laterDates, lateRepeats, openOverflow, mostSlots } = this.#options;
    const { dateZone, accept = [], empty = [], noEmpty = false, onlyUuids = false } = this.#options;
    // A header can have several lines, and the earlier check saw only the first.
    if (header.some((name) => containsCardNumber(name, 'cell'))) throw refusedHeader(CARD_NUMBER, this.#options);
    const { columnNames } = this.#options;
    const tokenName = columns.find(({ column }) => column === 'token')?.name;
    const isNamed = header.some((name) => isTokenName(name, tokenName));
    if (columnNames !== undefined && !isNamed) requireWidth(columnNames, header);
    else if (columnNames === undefined && isDataRow(header) && !isNamed) throw withoutHeader(header);
    const names = columnNames ?? header;
    this.#names = names;
    this.#places = findColumns(names, columns, noExpiration);
    this.#kept = findKept(names, keep);
    const { expiration, expiration_year, expiration_month } = this.#places;
    const isKnown = (expiration ?? expiration_year ?? expiration_month) !== undefined;
    if (!isKnown && noExpiration !== true && now !== undefined)
      this.#candidates = new ExpirationCandidates(names.length, Object.values(this.#places), now);
    if (this.#places.merchant_id === undefined && noMerchant !== true)
      this.#merchants = new MerchantCandidates(names, Object.values(this.#places));
    if (this.#places.merchant_id === undefined) this.#repeats = new RepeatColumns(names, Object.values(this.#places));
    this.#rejects.push(() => [...REJECTS_COLUMNS, ...names]);
    if (this.#kept.length > 0) this.#keep.push([...KEPT_COLUMNS, ...this.#kept.map((at) => names[at] ?? '')]);
    this.#rows = new RowPreparer({
      places: this.#places,
      names,
      kept: this.#kept,
      orders: dateOrders(dateOrder),
      zone: dateZone,
      now,
      accept,
      empty,
      hasNames: noEmpty,
      onlyUuids,
      laterDates,
      lateRepeats,
      exclusions,
      repeats: this.#repeats,
      expectedRows: this.#expectedRows,
      openOverflow,
      mostSlots,
    });
    // A header is no row, even if the operator named the columns.
    return columnNames === undefined || isNamed ? undefined : this.#rows;
  }
}

/** @throws SvcError `refused_input` unless the operator named as many columns as the first row has cells */
function requireWidth(names: readonly string[], cells: readonly string[]): void {
  if (names.length === cells.length) return;
  const counts = `the first row has ${countText(cells.length, 'cell')}, and --columns names ${names.length}`;
  throw new SvcError('refused_input', counts, { hint: 'Name each column, with - for one that is not sent.' });
}

interface RowForm {
  readonly delimiter: string;
  readonly width: number;
  /** The place of the token. */
  readonly place: number;
}

/** Tells whether the lines of one row look like several rows: with all cells, and a token at its place. */
function lookLikeRows(
  lines: readonly string[],
  cells: readonly string[],
  { delimiter, width, place }: RowForm,
): boolean {
  const tokens = lines.map((text) => {
    const own = text.replace(/\r$/, '').split(delimiter);
    return own.length === width ? (own[place] ?? '').trim() : '';
  });
  // If the cell is in the last column, its first line has all cells; in the first column, its last line.
  const [first = '', last = ''] = [tokens[0], tokens.at(-1)];
  if (tokens.slice(1, -1).some(isUuid) || (isUuid(first) && isUuid(last))) return true;
  return !isUuid(cells[place] ?? '') && tokens.every((token) => /^\S+$/.test(token));
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

/** The words of a message for each reason why an export is no readable CSV. A quote inside a cell is allowed there. */
const FAULTS: Readonly<Record<CsvFault, string>> = {
  ...CSV_FAULTS,
  stray:
    'text follows the closing quote of a cell: export a quote within a cell as two, and NULL as an empty cell, not as "N (COALESCE)',
};
