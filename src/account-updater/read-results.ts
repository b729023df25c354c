import { Readable } from 'node:stream';
import { SvcError } from '../errors.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';

const BATCH = 500;
/** The longest row, in bytes: a thousand times what the service sends. A file without line ends is not read further. */
const LONGEST_ROW = 1024 * 1024;
/** Rows of a small piece are collected before the garbage collector moves them among the lasting objects. */
const PIECE = 4 * 1024;

/**
 * Reads a result file by the names of its columns, with all that RFC 4180 allows: batches of rows, never empty, in flat
 * memory.
 * @throws SvcError `checksum_mismatch` when the file is truncated or malformed, or lacks the columns that every row needs
 */
export async function* readResults(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly ResultRow[], void> {
  // Only some commands read results.
  const { CsvError, parse } = await import('csv-parse');
  const input = Readable.from(copiedPieces(source), { objectMode: false });
  const parser = parse({ bom: true, skip_empty_lines: true, max_record_size: LONGEST_ROW });
  input.once('error', (error) => parser.destroy(error));
  parser.once('close', () => input.destroy());
  let header: ResultHeader | undefined;
  let row = 0;
  let rows: ResultRow[] = [];
  try {
    for await (const cells of input.pipe(parser) as AsyncIterable<string[]>) {
      if (header === undefined) {
        header = readResultHeader(cells);
        continue;
      }
      row += 1;
      rows.push(toResultRow(cells, header, row));
      if (rows.length < BATCH) continue;
      yield rows;
      rows = [];
    }
  } catch (error) {
    // The parser's own error repeats cells of the file, so it is not the cause.
    throw error instanceof CsvError
      ? unreadable(`is malformed or truncated after row ${row} (${error.code})`)
      : error;
  }
  if (header === undefined) throw unreadable('is empty, without even a header');
  if (rows.length > 0) yield rows;
}

/** The parser reads ahead, and the memory of what comes is used again. */
async function* copiedPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += PIECE) yield Uint8Array.from(chunk.subarray(at, at + PIECE));
}

function unreadable(problem: string, facts?: Readonly<Record<string, unknown>>): SvcError {
  const hint = 'Download the results again; if that changes nothing, contact support with the job id.';
  return new SvcError('checksum_mismatch', `the result file ${problem}`, { hint, facts });
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

/** Where the columns are. */
interface ResultHeader {
  /** The index of each known column; -1 where the file has none. */
  readonly indexes: Readonly<Record<ResultColumn, number>>;
  readonly extra: readonly (readonly [name: string, at: number])[];
}

const NEEDED: readonly ResultColumn[] = ['token', 'result_code'];

/** Reads the names of the columns. @throws SvcError `checksum_mismatch` when one is missing or duplicated */
function readResultHeader(names: readonly string[]): ResultHeader {
  const missing = NEEDED.filter((column) => !names.includes(column));
  if (missing.length > 0) throw unreadable(`lacks the column ${missing.join(' and ')}`, { missing });
  const seen = new Set<string>();
  const duplicate = names.find((name) => seen.size === seen.add(name).size);
  if (duplicate !== undefined) throw unreadable(`names the column ${JSON.stringify(duplicate)} twice`);
  const known: ReadonlySet<string> = new Set(RESULT_COLUMNS);
  return {
    indexes: {
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

// Spelled out: this runs for each of millions of rows, and a loop over names took half of the time.
function toResultRow(cells: readonly string[], { indexes, extra }: ResultHeader, row: number): ResultRow {
  return {
    token: cells[indexes.token] ?? '',
    expiration_year: cells[indexes.expiration_year] ?? '',
    expiration_month: cells[indexes.expiration_month] ?? '',
    new_token: cells[indexes.new_token] ?? '',
    new_expiration_year: cells[indexes.new_expiration_year] ?? '',
    new_expiration_month: cells[indexes.new_expiration_month] ?? '',
    result_code: cells[indexes.result_code] ?? '',
    extra:
      extra.length === 0 ? NO_EXTRA : Object.fromEntries(extra.map(([name, at]) => [name, cells[at] ?? ''])),
    row,
  };
}

const NO_EXTRA: Readonly<Record<string, string>> = {};
