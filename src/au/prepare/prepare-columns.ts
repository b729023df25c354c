// Recognizes the columns of an export by their names.

import { SvcError } from '../../base/errors.ts';
import { REQUEST_COLUMNS, RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { type Delimiter, DELIMITERS } from '../csv-rows.ts';

/**
 * The columns that are recognized in an export: the columns of the request file, and `expiration` for a year and a
 * month in one cell.
 */
export const PREPARED_COLUMNS = ['token', 'expiration', 'expiration_year', 'expiration_month', 'merchant_id'] as const;

export type PreparedColumn = (typeof PREPARED_COLUMNS)[number];

/** A column of the export that the operator assigned to a column of the request. */
export interface ColumnChoice {
  readonly column: PreparedColumn;
  /** The name in the header of the export. */
  readonly name: string;
}

/** The index of each recognized column in the export, starting at 0. */
export type ColumnPlaces = Readonly<Partial<Record<PreparedColumn, number>>>;

/** Tells whether the choice of a column replaces that of another one: the expiration is in one column, or in two. */
export function replacesColumn(chosen: string, other: string): boolean {
  const areExpirations = chosen.startsWith('expiration') && other.startsWith('expiration');
  return chosen === other || (areExpirations && (chosen === 'expiration' || other === 'expiration'));
}

/**
 * The well-known names of each column, in lower case and without signs. Ambiguous names such as `card_id` are not
 * included, so the operator must assign them.
 */
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
    'validto',
    'validtill',
    'expdt',
    'ablaufdatum',
    'gueltigbis',
    'gültigbis',
    'caducidad',
    'datedexpiration',
    'scadenza',
  ],
  expiration_year: ['expirationyear', 'expiryyear', 'expyear', 'cardexpyear'],
  expiration_month: ['expirationmonth', 'expirymonth', 'expmonth', 'cardexpmonth'],
  merchant_id: ['merchantid', 'mid'],
};

/** Tells whether a name means the token column: the operator's name for it, or a well-known one. */
export function isTokenName(name: string, chosen: string | undefined): boolean {
  return chosen === undefined ? SYNONYMS.token.includes(plain(name)) : isSameName(name, chosen);
}

/** Tells whether two names differ in case and signs only. Names of signs alone must be equal. */
export function isSameName(one: string, other: string): boolean {
  return one === other || (plain(one) !== '' && plain(one) === plain(other));
}

/** Returns the delimiter of a header: the one that occurs most often outside of quotes. */
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
 * Finds the recognized columns in the header of an export, first by the operator's choices, then by well-known names.
 * With `noExpiration`, a year without a month is no expiration, and neither is a month without a year.
 * @throws SvcError `refused_input` for a chosen column that does not exist, or for an ambiguous header
 */
export function findColumns(
  names: readonly string[],
  choices: readonly ColumnChoice[],
  noExpiration = false,
): ColumnPlaces {
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
  const half = halfExpiration(places);
  if (half === undefined) return places;
  if (!noExpiration || choices.some(({ column }) => column === half.found)) throw withoutHalf(half, names);
  delete places[half.found];
  return places;
}

interface HalfExpiration {
  readonly found: 'expiration_year' | 'expiration_month';
  readonly missing: 'expiration_year' | 'expiration_month';
}

/** Returns the half of the expiration that has a column, and the half that has none; undefined for both or neither. */
function halfExpiration({ expiration_year: year, expiration_month: month }: ColumnPlaces): HalfExpiration | undefined {
  if ((year === undefined) === (month === undefined)) return undefined;
  return year === undefined
    ? { found: 'expiration_month', missing: 'expiration_year' }
    : { found: 'expiration_year', missing: 'expiration_month' };
}

/** Returns the error for a year without a month or a month without a year: the networks would fill in the stored other half. */
function withoutHalf({ found, missing }: HalfExpiration, names: readonly string[]): SvcError {
  const problem = `a column is known as ${found}, and none as ${missing}`;
  return refused(`${problem}; the export has the columns ${shownNames(names)}`, { facts: { needs: missing, found } });
}

/** The names that a kept column may not have, because files that it is later joined with use them. */
const RESERVED: ReadonlySet<string> = new Set(['row', 'reason', ...REQUEST_COLUMNS, ...RESULT_COLUMNS]);

/**
 * Finds the columns to keep beside the request, each once.
 * @throws SvcError `refused_input` for a column that does not exist, exists twice, or has a reserved name
 */
export function findKept(names: readonly string[], kept: readonly string[]): readonly number[] {
  const places = kept.map((name) => {
    const place = placeOf(names, name);
    if (typeof place === 'string')
      throw refused(`a column to keep ${place}; the export has the columns ${shownNames(names)}`);
    const columnName = names[place] ?? '';
    if (RESERVED.has(columnName))
      throw refused(`the column ${columnName} cannot be kept: results have a column of that name`, {
        hint: 'Leave it out, or rename it in the export.',
      });
    return place;
  });
  return [...new Set(places)];
}

function chosenPlace(names: readonly string[], column: PreparedColumn, name: string): number {
  const place = placeOf(names, name);
  if (typeof place === 'string')
    throw refused(`the column named ${place}; the export has the columns ${shownNames(names)}`, {
      facts: { needs: column },
    });
  return place;
}

/** Returns the index of a column that the operator named, or the problem with the name. */
function placeOf(names: readonly string[], name: string): number | 'does not exist' | 'exists more than once' {
  const exact = names.flatMap((each, place) => (each === name ? [place] : []));
  const similar = names.flatMap((each, place) => (isSameName(each, name) ? [place] : []));
  const [place, another] = exact.length > 0 ? exact : similar;
  if (place === undefined) return 'does not exist';
  return another === undefined ? place : 'exists more than once';
}

function guessedPlace(names: readonly string[], column: PreparedColumn, taken: readonly number[]): number | undefined {
  const places = names.flatMap((name, at) =>
    SYNONYMS[column].includes(plain(name)) && !taken.includes(at) ? [at] : [],
  );
  if (places.length > 1) throw unclear(`more than one column may be ${column}`, column, names, places);
  return places[0];
}

function plain(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Returns the names that are safe to show. Only plain words are, because the first line of a file without a header may
 * contain any data.
 */
export function shownNames(names: readonly string[]): string {
  const shown = names.filter(isShown).slice(0, 20);
  const others = names.length - shown.length;
  const rest = others === 0 ? [] : [others === 1 ? '1 other' : `${others} others`];
  return [...shown, ...rest].join(', ');
}

/** Tells whether a name is safe to show. */
export function isShown(name: string): boolean {
  return /^\p{L}[\p{L} _.()-]{0,38}\d{0,2}$/u.test(name);
}

function unclear(
  problem: string,
  column: PreparedColumn,
  names: readonly string[],
  found: readonly number[] = [],
): SvcError {
  const [first = 0, second = first] = found;
  // Columns with the same name differ only in their place.
  const isSame = first !== second && isSameName(names[first] ?? '', names[second] ?? '');
  const proposed = names.map((name, at) => (at === second || !isShown(name) ? '-' : name));
  return refused(`${problem}; the export has the columns ${shownNames(names)}`, {
    facts: isSame ? { needs: 'columns', proposed } : { needs: column, found_names: found.map((at) => names[at] ?? '') },
  });
}

function refused(message: string, details: ConstructorParameters<typeof SvcError>[2] = {}): SvcError {
  return new SvcError('refused_input', message, details);
}
