import { SvcError } from '../../base/errors.ts';

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
    throw unclear('the expiration is in one column and in columns of its own as well', 'expiration', names);
  return places;
}

function chosenPlace(names: readonly string[], column: PreparedColumn, name: string): number {
  const exact = names.flatMap((each, place) => (each === name ? [place] : []));
  const similar = names.flatMap((each, place) => (plain(each) === plain(name) ? [place] : []));
  const found = exact.length > 0 ? exact : similar;
  const [place] = found;
  if (place === undefined) throw unclear('the column named does not exist', column, names);
  if (found.length > 1) throw unclear('the column named exists more than once', column, names);
  return place;
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
