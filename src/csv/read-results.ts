import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { SvcError } from '../errors.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';

/** Name of a known column of the result file. */
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/** One row of a result file: the known columns, empty where the file has none, and all others as they came. */
export type ResultRow = Readonly<Record<ResultColumn, string>> & {
  /** Columns that the interface does not name, by name. */
  readonly extra: Readonly<Record<string, string>>;
  /** The first row below the header is 1. */
  readonly row: number;
};

/**
 * Reads a result file row by row, by the names of its columns, in flat memory. Fails with `altered` when the file
 * is cut or malformed, or lacks the columns that every row needs.
 */
export async function* readResults(source: AsyncIterable<Uint8Array>): AsyncGenerator<ResultRow, void> {
  let header: Header | undefined;
  let row = 0;
  try {
    for await (const cells of parsed(source)) {
      if (header === undefined) {
        header = readHeader(cells);
        continue;
      }
      row += 1;
      yield toRow(cells, header, row);
    }
  } catch (error) {
    throw error instanceof CsvError ? malformed(error, row) : error;
  }
  if (header === undefined)
    throw new SvcError('altered', 'the result file is empty, without even a header', { hint: AGAIN });
}

const AGAIN = 'Download the results again; if they stay as they are, contact support with the job id.';
const NEEDED: readonly ResultColumn[] = ['token', 'result_code'];

interface Header {
  /** Where each known column stands; -1 where the file has none. */
  readonly places: Readonly<Record<ResultColumn, number>>;
  readonly extra: readonly (readonly [name: string, at: number])[];
}

function parsed(source: AsyncIterable<Uint8Array>): AsyncIterable<string[]> {
  const input = Readable.from(source, { objectMode: false });
  const parser = parse({ bom: true, skip_empty_lines: true });
  input.once('error', (error) => parser.destroy(error));
  parser.once('close', () => input.destroy());
  return input.pipe(parser);
}

function readHeader(names: readonly string[]): Header {
  const missing = NEEDED.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw new SvcError('altered', `the result file lacks the column ${missing.join(' and ')}`, {
      hint: AGAIN,
      facts: { missing },
    });
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new SvcError('altered', `the result file names the column ${JSON.stringify(twice)} twice`, {
      hint: AGAIN,
    });
  const known: ReadonlySet<string> = new Set(RESULT_COLUMNS);
  return {
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

// Spelled out: this runs for each of millions of rows, and a loop over names took half of all time.
function toRow(cells: readonly string[], { places, extra }: Header, row: number): ResultRow {
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

// The parser's own error repeats what stands in the file, so it is no cause.
function malformed(error: CsvError, row: number): SvcError {
  return new SvcError(
    'altered',
    `the result file is malformed or cut off behind row ${row} (${error.code})`,
    { hint: AGAIN },
  );
}
