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

/** Which column stands where. */
export interface ResultHeader {
  /** How many cells each row has. */
  readonly width: number;
  /** Where each known column stands; -1 where the file has none. */
  readonly places: Readonly<Record<ResultColumn, number>>;
  readonly extra: readonly (readonly [name: string, at: number])[];
}

/** What to do about a result file that cannot be right. */
export const DOWNLOAD_AGAIN =
  'Download the results again; if they stay as they are, contact support with the job id.';

const NEEDED: readonly ResultColumn[] = ['token', 'result_code'];

/** Reads the names of the columns. @throws SvcError `altered` when one is missing or stands there twice */
export function readResultHeader(names: readonly string[]): ResultHeader {
  const missing = NEEDED.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw new SvcError('altered', `the result file lacks the column ${missing.join(' and ')}`, {
      hint: DOWNLOAD_AGAIN,
      facts: { missing },
    });
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined)
    throw new SvcError('altered', `the result file names the column ${JSON.stringify(twice)} twice`, {
      hint: DOWNLOAD_AGAIN,
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
