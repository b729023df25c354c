// Reads the expiration of a row of an export.

import { markOf } from '../request/marks.ts';
import { shapeOf } from '../request/token-shape.ts';
import { type CsvRow, isQuoted } from '../csv-rows.ts';
import type { ChangeKind } from './changes.ts';
import { type JudgedDate, judged } from './date-facts.ts';
import type { ReadingOptions } from './how-to-read.ts';
import type { ColumnPlaces } from './prepare-columns.ts';
import { type DateOrder, dateOrders, ORDER_NAMES } from './date-orders.ts';
import { type Expiration, monthOfName, twoDigitMonth, twoDigitYear } from '../date-parts.ts';
import { hasLostZero, readExpiration } from './prepare-date.ts';
import type { RowFinding } from './prepare-problems.ts';
import { cellAt } from './row-cells.ts';

/** The largest number of dates that are cached. An export has a few hundred different ones. */
const DATES_KEPT = 5_000;
const MAX_KEPT_LENGTH = 40;

export class ExpirationReader {
  readonly #places: ColumnPlaces;
  readonly #orders: readonly DateOrder[];
  readonly #zone: string | undefined;
  readonly #known = new Map<string, Expiration | JudgedDate | RowFinding>();

  constructor(places: ColumnPlaces, { dateOrder = [], dateZone }: Pick<ReadingOptions, 'dateOrder' | 'dateZone'>) {
    this.#places = places;
    this.#orders = dateOrders(dateOrder);
    this.#zone = dateZone;
  }

  /** Returns the expiration of a row, or the problem with it. Adds its changes to `made`. */
  read(row: CsvRow, made: ChangeKind[]): Expiration | JudgedDate | RowFinding {
    const { cells } = row;
    if (this.#places.expiration !== undefined) {
      const cell = cellAt(cells, this.#places.expiration);
      const date = this.#readDate(cell);
      if ('problem' in date && this.#isMark(row, 'expiration', cell, made)) return NO_EXPIRATION;
      if (cell !== '') made.push('expirations');
      return date;
    }
    const yearCell = cellAt(cells, this.#places.expiration_year);
    const monthCell = cellAt(cells, this.#places.expiration_month);
    let year = yearCell === '' ? '' : twoDigitYear(yearCell);
    let month = monthCell === '' ? '' : (twoDigitMonth(monthCell) ?? monthOfName(monthCell));
    if (year === undefined && this.#isMark(row, 'expiration_year', yearCell, made)) year = '';
    if (month === undefined && this.#isMark(row, 'expiration_month', monthCell, made)) month = '';
    if (year === undefined) return { ...WRONG_YEAR, shape: shapeOf(yearCell) };
    if (month === undefined)
      return isSwapped(yearCell, monthCell) ? SWAPPED : { ...WRONG_MONTH, shape: shapeOf(monthCell) };
    if (year !== yearCell) made.push('years');
    if (month !== monthCell) made.push('months');
    return { year, month };
  }

  #readDate(cell: string): Expiration | JudgedDate | RowFinding {
    const known = this.#known.get(cell);
    if (known !== undefined) return known;
    const date = this.#parse(cell);
    if (this.#known.size < DATES_KEPT && cell.length <= MAX_KEPT_LENGTH) this.#known.set(cell, date);
    return date;
  }

  #parse(cell: string): Expiration | JudgedDate | RowFinding {
    if (cell === '') return NO_EXPIRATION;
    if (hasLostZero(cell)) return { ...LOST_ZERO, shape: shapeOf(cell) };
    const date = readExpiration(cell, this.#orders, this.#zone);
    if (date === undefined)
      return { rule: 'date', problem: 'the expiration is not a month and a year', shape: shapeOf(cell) };
    if (!('orders' in date)) return judged(date);
    const orders = date.orders.map((order) => `${ORDER_NAMES[order]} (--date-order ${order})`);
    const problem = `the expiration may be ${orders.join(' or ')}`;
    return { rule: 'date_order', problem, shape: shapeOf(cell), orders: date.orders };
  }

  /** Tells whether an unquoted cell of a date is a mark for nothing. */
  #isMark(row: CsvRow, column: keyof ColumnPlaces, cell: string, made: ChangeKind[]): boolean {
    if (markOf(cell) === undefined || isQuoted(row, this.#places[column] ?? -1)) return false;
    made.push('marks');
    return true;
  }
}

const NO_EXPIRATION: Expiration = { year: '', month: '' };

const WRONG_YEAR = { rule: 'year', column: 'expiration_year', problem: 'is not a year of 2 or 4 digits' } as const;
const WRONG_MONTH = { rule: 'month', column: 'expiration_month', problem: 'is not a month from 1 to 12' } as const;
const SWAPPED = {
  rule: 'month',
  column: 'expiration_month',
  problem: 'is a year, and expiration_year a month: are the two columns swapped?',
} as const;
const LOST_ZERO = {
  rule: 'date',
  problem:
    'the expiration has one digit behind a point: January, or October without its zero; export the column as text',
} as const;

/** Tells whether the cells of a year and a month look as if their columns were swapped. */
function isSwapped(year: string, month: string): boolean {
  return twoDigitMonth(year) !== undefined && /^(?:20)?[2-4]\d$/.test(month);
}

/** Returns an expiration as a number, larger for a later one; 1 for an incomplete one. */
export function dateNumber({ year, month }: Expiration): number {
  return year === '' || month === '' ? 1 : 2 + Number(year) * 12 + Number(month);
}

/** Returns the expiration for a number of `dateNumber`; undefined for an incomplete one. */
export function expirationOf(date: number): Expiration | undefined {
  if (date <= 1) return undefined;
  const months = date - 3;
  return { year: twoDigits(Math.floor(months / 12)), month: twoDigits((months % 12) + 1) };
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
