// Reads an export row by row, and writes the request and the other output files.

import { createHash } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { csvRows } from '../../cli/output/csv.ts';
import { countText } from '../../cli/output/number.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { inSmallPieces } from '../request/request-lines.ts';
import { CARD_NUMBER } from '../request/request-rules.ts';
import { isUuid } from '../request/row-key.ts';
import { headerName, KEPT_COLUMNS, onOneLine } from '../results/kept-columns.ts';
import { CSV_FAULTS, type CsvFault, type CsvRow, CsvRows } from '../csv-rows.ts';
import type { ChangeKind } from './changes.ts';
import { emptyExport, PIECE_LENGTH, readHead, refusedHeader } from './export-head.ts';
import { columnsOfRows, type Header, isDataRow, isHeader, withoutHeader } from './find-header.ts';
import type { PrepareOptions } from './how-to-read.ts';
import { type ColumnChoice, findColumns, findKept, type PreparedColumn } from './prepare-columns.ts';
import type { RowFinding } from './prepare-problems.ts';
import { type ExportColumns, type PreparedRow, type PreparedRows, RowPreparer } from './prepare-row.ts';
import { isBlank } from './row-cells.ts';

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

/** The outcome of an export. The written files count only if there are no problems, and no repeated rows. */
export interface Prepared extends PreparedRows {
  /** The SHA-256 of the export in hexadecimal. */
  readonly sha256: string;
  /** The number of lines above the header. */
  readonly titleLines: number;
  /** The name in the export of each recognized column. */
  readonly columns: Readonly<Partial<Record<PreparedColumn, string>>>;
  readonly leftOut: readonly string[];
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
  const pieces = inSmallPieces(hashed(source, hash), PIECE_LENGTH);
  try {
    const { header, start, decoder } = await readHead(pieces, options);
    const { delimiter, skipped: titleLines } = header;
    const reader = new ExportReader(options, header);
    const form = { delimiter, isLenient: true, hasQuotes: options.noQuotes !== true };
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
    const prepared = await reader.finish();
    return { ...prepared, sha256: hash.digest('hex'), titleLines };
  } finally {
    // Stopping early closes the file. A silent pipe must not delay that.
    pieces.return(undefined).catch(() => undefined);
  }
}

/** The longest row of an export, in characters. */
const MAX_ROW_LENGTH = 64 * 1024;

async function* hashed(
  source: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Processes the rows of an export, starting with the header. */
class ExportReader {
  readonly #options: PrepareOptions;
  readonly #header: Header;
  #columns: ExportColumns = { names: [], places: {}, kept: [] };
  #rows: RowPreparer | undefined;
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

  constructor(options: PrepareOptions, header: Header) {
    this.#options = options;
    this.#header = header;
  }

  take(row: CsvRow): void {
    if (row.line <= this.#header.skipped) return;
    const rows = this.#rows ?? this.#takeHeader(row);
    if (rows === undefined || this.#options.isSkipped?.(row) === true) return;
    if (row.lines !== undefined) this.#requireQuotes(row, row.lines);
    if (this.#withoutToken !== undefined && !isBlank(row)) {
      const earlier = this.#withoutToken;
      this.#withoutToken = undefined;
      this.#takeMade(earlier, rows.take(earlier));
    }
    if (rows.isTotal(row)) this.#withoutToken = row;
    else this.#takeMade(row, rows.take(row));
  }

  /** Ends the rows: leaves out the last one if it has no token and is whole. */
  takeLast(endsWithLineEnd: boolean): void {
    const row = this.#withoutToken;
    if (row !== undefined) this.#takeMade(row, this.#rows?.takeTotal(row, endsWithLineEnd));
  }

  #takeMade({ cells, line }: CsvRow, made: PreparedRow | undefined): void {
    if (made === undefined) return;
    const { finding } = made;
    if (finding === undefined) return this.#takePrepared(cells, made);
    this.#refused += 1;
    if (finding.rule === 'columns') {
      this.#otherWidth ??= { cells, rows: 0 };
      if (cells.length === this.#otherWidth.cells.length) this.#otherWidth.rows += 1;
    }
    this.#rejects.push(() => [String(line), reasonOf(finding), ...shownCells(cells, finding)]);
  }

  #takePrepared(cells: readonly string[], { token, text }: { readonly token: string; readonly text: string }): void {
    const { kept } = this.#columns;
    this.#request += text;
    this.#count += 1;
    if (kept.length > 0) this.#keep.push([String(this.#count), token, ...kept.map((at) => onOneLine(cells[at] ?? ''))]);
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
    const finding = { rule: 'quoting', problem: `${FAULTS[why]}; nothing below was read` } as const;
    if (this.#rows === undefined) throw refusedHeader(finding, this.#options, line);
    this.#rows.refuse(line, finding);
    this.#rejects.push(() => [String(line), finding.problem, ...this.#columns.names.map(() => '')]);
  }

  /** Moves hashes of rows out of memory if there are many. */
  async relieve(): Promise<void> {
    await this.#rows?.relieve();
  }

  async finish(): Promise<PreparedRows & Pick<Prepared, 'columns' | 'leftOut' | 'kept'>> {
    if (this.#rows === undefined) throw emptyExport(this.#options);
    const { cells, rows = 0 } = this.#otherWidth ?? {};
    if (cells && this.#count === 0 && rows === this.#refused) throw this.#otherHeader(cells);
    const { names, places, kept } = this.#columns;
    const used = new Set([...Object.values(places), ...kept]);
    return {
      ...(await this.#rows.finish()),
      columns: Object.fromEntries(Object.entries(places).map(([column, at]) => [column, names[at] ?? ''])),
      leftOut: names.filter((_, at) => !used.has(at)),
      kept: kept.map((at) => names[at] ?? ''),
    };
  }

  /** Refuses a cell whose lines look like rows: a format without quoting may have a quote in two cells. */
  #requireQuotes({ cells, line }: CsvRow, lines: readonly string[]): void {
    const { accept = [] } = this.#options;
    const { names, places } = this.#columns;
    const form = { ...this.#header, width: names.length, place: places.token ?? 0 };
    if (accept.includes('quotes') || !lookLikeRows(lines, cells, form)) return;
    const problem = `a quote opens on line ${line} and closes on line ${line + lines.length - 1}, and these lines look like rows`;
    throw new SvcError('refused_input', problem, {
      hint: 'Nothing was written. If this format quotes no cell, read it without quotes; if a cell has these lines, accept that:',
      facts: { needs: 'quotes', check: 'quotes', line },
    });
  }

  /** Returns the error for a header that has more or fewer cells than every row. */
  #otherHeader(cells: readonly string[]): SvcError {
    const { columnNames } = this.#options;
    const { names, places, kept } = this.#columns;
    const what = columnNames === undefined ? `line ${this.#header.skipped + 1} is a header with` : '--columns names';
    const problem = `${what} ${countText(names.length, 'column')}, and each row has ${countText(cells.length, 'cell')}`;
    const used = new Set([...Object.values(places), ...kept]);
    const proposed = columnsOfRows({ names, used, token: places.token ?? 0 }, cells);
    return new SvcError('refused_input', problem, { facts: { needs: 'columns', proposed } });
  }

  /** Takes the header, or the first row if the operator named the columns. Returns the preparer of that first row. */
  #takeHeader(row: CsvRow): RowPreparer | undefined {
    const header = row.cells.map(headerName);
    const { columns = [], columnNames, keep = [], noExpiration } = this.#options;
    // A header can have several lines, and the earlier check saw only the first.
    if (header.some((name) => containsCardNumber(name, 'cell')))
      throw refusedHeader(CARD_NUMBER, this.#options, row.line);
    const isNamed = isHeader(header, this.#options);
    if (columnNames !== undefined && !isNamed) requireRow(header, columnNames, columns);
    else if (columnNames === undefined && isDataRow(header) && !isNamed) throw withoutHeader(header);
    const names = columnNames ?? header;
    const kept = findKept(names, keep);
    this.#columns = { names, places: findColumns(names, columns, noExpiration), kept };
    this.#rejects.push(() => [...REJECTS_COLUMNS, ...names]);
    if (kept.length > 0) this.#keep.push([...KEPT_COLUMNS, ...kept.map((at) => names[at] ?? '')]);
    this.#rows = new RowPreparer(this.#options, this.#columns);
    // A header is no row, even if the operator named the columns.
    return columnNames === undefined || isNamed ? undefined : this.#rows;
  }
}

/**
 * @throws SvcError `refused_input` for a first row with more or fewer cells than the operator named columns, or for a header with
 *   its tokens in another column
 */
function requireRow(cells: readonly string[], names: readonly string[], columns: readonly ColumnChoice[]): void {
  const hint = 'Name each column, with - for one that is not sent.';
  const counts = `the first row has ${countText(cells.length, 'cell')}, and --columns names ${names.length}`;
  if (names.length !== cells.length) throw new SvcError('refused_input', counts, { hint });
  if (isDataRow(cells) || !isHeader(cells, { columns })) return;
  throw new SvcError('refused_input', 'the first row names the tokens in another column than --columns', { hint });
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

/** Returns the reason of a refused row, as its file shows it. */
export function reasonOf({ column, problem }: RowFinding): string {
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
