import { SvcError } from '../../base/errors.ts';
import { REQUEST_COLUMNS, RESULT_COLUMNS } from '../../schema/account-updater-files.ts';

/** What a column of an export can be: a column of the request file, or a year and month in one cell. */
export const PREPARED_COLUMNS = ['token', 'expiration', 'expiration_year', 'expiration_month', 'merchant_id'] as const;

export type PreparedColumn = (typeof PREPARED_COLUMNS)[number];

/** The column of the export that the operator names for one of ours. */
export interface ColumnChoice {
  readonly column: PreparedColumn;
  /** As the header of the export has it. */
  readonly name: string;
}

/** Where each of our columns is in the export, counted from 0. */
export type ColumnPlaces = Readonly<Partial<Record<PreparedColumn, number>>>;

/** Names in use for each column, without case and signs. `card_id` and the like could be anything: they must be named. */
const SYNONYMS: Readonly<Record<PreparedColumn, readonly string[]>> = {
  token: ['token', 'tokenid', 'cardtoken', 'cardtokenid'],
  expiration: [
    'expiration',
    'expirationdate',
    'expiry',
    'expirydate',
    'exp',
    'expdate',
    'expires',
    'cardexpiry',
    'validthru',
    'validuntil',
    'goodthru',
  ],
  expiration_year: ['expirationyear', 'expiryyear', 'expyear', 'cardexpyear'],
  expiration_month: ['expirationmonth', 'expirymonth', 'expmonth', 'cardexpmonth'],
  merchant_id: ['merchantid', 'mid'],
};

const DELIMITERS = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

/** What separates the columns of a header: the sign that is most often outside its quotes. */
export function delimiterOf(header: string): Delimiter {
  const open = header.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((sign) => [sign, open.split(sign).length - 1] as const);
  const [first = [',', 0] as const, second = first] = counts.toSorted(([, a], [, b]) => b - a);
  if (first[1] === 0 || first[1] > second[1]) return first[1] === 0 ? ',' : first[0];
  throw refused('the columns of the header can be separated in two ways', {
    hint: 'Use one sign between columns: commas, semicolons or tabs.',
  });
}

/**
 * Finds our columns in the header of an export: those that the operator names, then those with a well-known name.
 * @throws SvcError `refused_input` where a named column does not exist, or it is not clear which column is meant
 */
export function findColumns(names: readonly string[], choices: readonly ColumnChoice[]): ColumnPlaces {
  const places: Partial<Record<PreparedColumn, number>> = {};
  for (const { column, name } of choices) {
    if (places[column] !== undefined) throw refused(`${column} is named twice`);
    places[column] = chosenPlace(names, column, name);
  }
  const isCombined = choices.some(({ column }) => column === 'expiration');
  const isSplit = places.expiration_year !== undefined || places.expiration_month !== undefined;
  for (const column of PREPARED_COLUMNS) {
    const isSettled = column === 'expiration' ? isSplit : column.startsWith('exp') && isCombined;
    if (places[column] !== undefined || isSettled) continue;
    const place = guessedPlace(names, column, Object.values(places));
    if (place !== undefined) places[column] = place;
  }
  if (places.token === undefined) throw unclear('no column is known to contain the tokens', 'token', names);
  if (places.expiration !== undefined && (places.expiration_year ?? places.expiration_month) !== undefined)
    throw unclear('the expiration is both in one column and in separate columns', 'expiration', names);
  return places;
}

/** Names that a kept column cannot have: files that it is joined to have columns of these names. */
const RESERVED: ReadonlySet<string> = new Set(['row', 'reason', ...REQUEST_COLUMNS, ...RESULT_COLUMNS]);

/**
 * Finds the columns that are kept beside the request, each once.
 * @throws SvcError `refused_input` where one does not exist, exists twice, or has the name of another column
 */
export function findKept(names: readonly string[], kept: readonly string[]): readonly number[] {
  const places = kept.map((name) => {
    const place = placeOf(names, name);
    if (typeof place === 'string')
      throw refused(`a column to keep ${place}; the export has the columns ${shownNames(names)}`);
    const found = names[place] ?? '';
    if (RESERVED.has(found))
      throw refused(`the column ${found} cannot be kept: results have a column of that name`, {
        hint: 'Leave it out, or rename it in the export.',
      });
    return place;
  });
  return [...new Set(places)];
}

function chosenPlace(names: readonly string[], column: PreparedColumn, name: string): number {
  const place = placeOf(names, name);
  if (typeof place === 'string') throw unclear(`the column named ${place}`, column, names);
  return place;
}

/** Where a column is that the operator names, or what is wrong with the name. */
function placeOf(names: readonly string[], name: string): number | 'does not exist' | 'exists more than once' {
  const exact = names.flatMap((each, place) => (each === name ? [place] : []));
  const similar = names.flatMap((each, place) => (plain(each) === plain(name) ? [place] : []));
  const [place, another] = exact.length > 0 ? exact : similar;
  if (place === undefined) return 'does not exist';
  return another === undefined ? place : 'exists more than once';
}

function guessedPlace(names: readonly string[], column: PreparedColumn, taken: readonly number[]): number | undefined {
  const found = names.flatMap((name, at) =>
    SYNONYMS[column].includes(plain(name)) && !taken.includes(at) ? [at] : [],
  );
  if (found.length > 1) throw unclear(`more than one column may be ${column}`, column, names);
  return found[0];
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The names that may be shown: plain words, since the first line of a file without a header may be anything. */
export function shownNames(names: readonly string[]): string {
  const shown = names.filter((name) => /^\p{L}[\p{L} _.()-]{0,38}\d{0,2}$/u.test(name)).slice(0, 20);
  const others = names.length - shown.length;
  const rest = others === 0 ? [] : [others === 1 ? '1 other' : `${others} others`];
  return [...shown, ...rest].join(', ');
}

function unclear(problem: string, column: PreparedColumn, names: readonly string[]): SvcError {
  return refused(`${problem}; the export has the columns ${shownNames(names)}`, { facts: { needs: column } });
}

function refused(message: string, details: ConstructorParameters<typeof SvcError>[2] = {}): SvcError {
  return new SvcError('refused_input', message, details);
}
