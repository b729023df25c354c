import { isAscii } from 'node:buffer';
import { SvcError } from '../errors.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';
import { inSmallPieces, LineBlocks, type LineReader, splitCells } from './line-blocks.ts';

/** How a result file is read. */
export interface ReadResultsOptions {
  /** Leaves the quick way out; the result is the same. For tests and measurements. */
  readonly slowly?: boolean | undefined;
}

/**
 * Reads a result file by the names of its columns: batches of rows, never empty, in flat memory. Lines that are plain
 * go a quick way; from the first one that is not, csv-parse reads on.
 * @throws SvcError `altered` when the file is cut or malformed, or lacks the columns that every row needs
 */
export async function* readResults(
  source: AsyncIterable<Uint8Array>,
  { slowly = false }: ReadResultsOptions = {},
): AsyncGenerator<readonly ResultRow[], void> {
  const plain = new PlainResults(slowly);
  const blocks = new LineBlocks(plain);
  const pieces = inSmallPieces(source);
  try {
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      blocks.feed(next.value);
      const rows = plain.take();
      if (rows.length > 0) yield rows;
      if (plain.isOdd) break;
    }
    const last = blocks.finish();
    if (last !== undefined) plain.lastLine(last);
    const rows = plain.take();
    if (rows.length > 0) yield rows;
    if (plain.isOdd) return yield* parsed(plain, pieces);
    if (plain.header.length === 0) throw emptyFile();
  } finally {
    await pieces.return();
  }
}

/** The rest of the file, from the first odd line on, with the header in front of it. */
async function* parsed(
  { header, rest, count }: PlainResults,
  further: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly ResultRow[], void> {
  const { parseResults } = await import('./parse-results.ts');
  const isEmpty = yield* parseResults(joined(header, rest, further), count);
  if (isEmpty) throw emptyFile();
}

async function* joined(
  header: Uint8Array,
  rest: readonly Uint8Array[],
  further: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield header;
  yield* rest;
  // The parser reads ahead, and what comes is lent.
  for await (const piece of further) yield Uint8Array.from(piece);
}

function emptyFile(): SvcError {
  return new SvcError('altered', 'the result file is empty, without even a header', {
    hint: DOWNLOAD_AGAIN_HINT,
  });
}

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

/** Name of a known column of the result file. */
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/** One row of a result file: the known columns, empty where the file has none, and all others as they came. */
export type ResultRow = Readonly<Record<ResultColumn, string>> & {
  /** Columns that the interface does not name, by name. */
  readonly extra: Readonly<Record<string, string>>;
  /** The first row below the header is 1. */
  readonly row: number;
};

/** Which column stands where. */
export interface ResultHeader {
  /** How many cells each row has. */
  readonly width: number;
  /** Where each known column stands; -1 where the file has none. */
  readonly places: Readonly<Record<ResultColumn, number>>;
  readonly extra: readonly (readonly [name: string, at: number])[];
}

/** What to do about a result file that cannot be right. */
export const DOWNLOAD_AGAIN_HINT =
  'Download the results again; if they stay as they are, contact support with the job id.';

const NEEDED: readonly ResultColumn[] = ['token', 'result_code'];

/** Reads the names of the columns. @throws SvcError `altered` when one is missing or stands there twice */
export function readResultHeader(names: readonly string[]): ResultHeader {
  const missing = NEEDED.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw new SvcError('altered', `the result file lacks the column ${missing.join(' and ')}`, {
      hint: DOWNLOAD_AGAIN_HINT,
      facts: { missing },
    });
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined)
    throw new SvcError('altered', `the result file names the column ${JSON.stringify(twice)} twice`, {
      hint: DOWNLOAD_AGAIN_HINT,
    });
  const known: ReadonlySet<string> = new Set(RESULT_COLUMNS);
  return {
    width: names.length,
    places: {
      token: names.indexOf('token'),
      expiration_year: names.indexOf('expiration_year'),
      expiration_month: names.indexOf('expiration_month'),
      new_token: names.indexOf('new_token'),
      new_expiration_year: names.indexOf('new_expiration_year'),
      new_expiration_month: names.indexOf('new_expiration_month'),
      result_code: names.indexOf('result_code'),
    },
    extra: names.map((name, at) => [name, at] as const).filter(([name]) => !known.has(name)),
  };
}

/** Puts the cells of row number `row` under their names. */
// Spelled out: this runs for each of millions of rows, and a loop over names took half of all time.
export function toResultRow(
  cells: readonly string[],
  { places, extra }: ResultHeader,
  row: number,
): ResultRow {
  return {
    token: cells[places.token] ?? '',
    expiration_year: cells[places.expiration_year] ?? '',
    expiration_month: cells[places.expiration_month] ?? '',
    new_token: cells[places.new_token] ?? '',
    new_expiration_year: cells[places.new_expiration_year] ?? '',
    new_expiration_month: cells[places.new_expiration_month] ?? '',
    result_code: cells[places.result_code] ?? '',
    extra:
      extra.length === 0 ? NOTHING : Object.fromEntries(extra.map(([name, at]) => [name, cells[at] ?? ''])),
    row,
  };
}

const NOTHING: Readonly<Record<string, string>> = {};
