// Reads expirations in the many forms that exports have.

import { DAY_MS } from '../../schema/durations.ts';
import type { DateOrder } from './date-orders.ts';
import { type Expiration, monthOfName, type ReadDate, twoDigitMonth, twoDigitYear } from '../date-parts.ts';
import { dateIn, instantOf } from './zoned-time.ts';

/** An expiration with several readings, and the orders that distinguish them. */
export interface AmbiguousDate {
  readonly orders: readonly DateOrder[];
}

/** The day number of a spreadsheet. Its fraction is the time of day. */
const SERIAL = /^[3-7]\d{4}(?:[.,]\d+)?$/;

/**
 * Parses the month and the year in one cell: `MM/YY`, `YYYY-MM`, `MMYY`, `Mar-29`, `31.03.2029`, `2029-03-31T00:00:00Z`
 * and similar forms. A four-digit year makes the order evident. Other forms are read in the given orders. A time with a zone
 * is read in the calendar of `zone`, by default in its own.
 * @returns undefined for a cell that is not a date in one of these orders
 * @throws RangeError for a `zone` that does not exist, if the cell has a time with a zone
 */
export function readExpiration(
  cell: string,
  orders: readonly DateOrder[] = [],
  zone?: string,
): ReadDate | AmbiguousDate | undefined {
  const timed = instantOf(cell);
  if (timed !== undefined && zone !== undefined) return dateIn(zone, timed.instant);
  const serial = SERIAL.test(cell) ? serialDate(Number.parseInt(cell, 10)) : undefined;
  if (orders.includes('serial') && serial !== undefined) return serial;
  const named = orders.filter((order) => order !== 'serial');
  const readings = new Map<string, Reading>();
  for (const reading of readingsOf(cell)) {
    if (!isAllowed(reading, named)) continue;
    const { year, month } = reading;
    const earlier = readings.get(year + month);
    readings.set(year + month, { ...reading, orders: [...(earlier?.orders ?? []), ...reading.orders] });
  }
  const all = [...readings.values()];
  const [first] = all;
  if (first === undefined) return serial === undefined ? undefined : { orders: ['serial'] };
  const needsOrder = first.mustBeNamed === true && named.length === 0;
  if (all.length > 1 || needsOrder) return { orders: all.flatMap(({ orders }) => orders) };
  const { year, month, day } = first;
  return { year, month, day, instant: timed?.isBoundary === false ? timed.instant : undefined };
}

/** Tells whether a cell such as 2027.1 may have lost a zero: a year, a point, and one digit. */
export function hasLostZero(cell: string): boolean {
  return /^(?:20)?\d\d[.,]\d$/.test(cell);
}

/** One way to read a cell. */
interface Reading extends Expiration {
  readonly day?: number;
  /** The orders that lead to this reading. */
  readonly orders: readonly DateOrder[];
  /** Whether the cell alone shows the order, so that a chosen order does not matter. */
  readonly isSelfEvident: boolean;
  /** Whether the reading is used only if the operator chose its order. */
  readonly mustBeNamed?: boolean;
}

/**
 * The orders that each chosen order allows. For example, `dmy` also allows `my`, because both put the year after the
 * month.
 */
const IMPLIED: Readonly<Record<DateOrder, readonly DateOrder[]>> = {
  my: ['my', 'dmy', 'mdy'],
  ym: ['ym', 'ymd'],
  dmy: ['dmy', 'my'],
  mdy: ['mdy', 'my'],
  ymd: ['ymd', 'ym'],
  serial: [],
};

function isAllowed({ orders, isSelfEvident }: Reading, named: readonly DateOrder[]): boolean {
  if (named.length === 0 || isSelfEvident) return true;
  return named.some((order) => orders.some((each) => IMPLIED[order].includes(each)));
}

const MAX_DATE_LENGTH = 40;
/** A time of day behind a date. Oracle writes it with points. */
const TIME = /[t ]\d{1,2}(?::\d{2}|\.\d{2}\.\d{2}).*$/;
const PART = String.raw`\d{1,4}|[a-z]{3,9}`;
const GAP = "(?: ?[-/.,'] ?| )";
const TWO_PARTS = new RegExp(String.raw`^(${PART})${GAP}(${PART})$`);
const THREE_PARTS = new RegExp(String.raw`^(${PART})${GAP}(${PART})${GAP}(${PART})$`);
/** The boundaries between digits and a month's name without a separator, as in Mar29 and 31Mar2029. */
const ATTACHED = /(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)/g;
const EIGHT_DIGITS = /^\d{8}$/;
const THREE_TO_SIX_DIGITS = /^\d{3,6}$/;

function readingsOf(cell: string): Reading[] {
  if (cell.length > MAX_DATE_LENGTH) return [];
  const text = cell
    .toLowerCase()
    .replace(/^'(.*)'$/, '$1')
    .replace(TIME, '')
    // A program that read the digits as a number added a point and a zero.
    .replace(/^(\d{3,8})\.0+$/, '$1');
  if (THREE_TO_SIX_DIGITS.test(text)) return digitPairs(text).flatMap(([first, second]) => readPair(first, second));
  if (EIGHT_DIGITS.test(text))
    return [
      ...readTriple(text.slice(0, 4), text.slice(4, 6), text.slice(6)),
      ...readTriple(text.slice(0, 2), text.slice(2, 4), text.slice(4)),
    ];
  const spaced = text.replaceAll(ATTACHED, '-');
  const [, first, second] = TWO_PARTS.exec(spaced) ?? [];
  if (first !== undefined && second !== undefined) return readPair(first, second);
  const [, one, two, three] = THREE_PARTS.exec(spaced) ?? [];
  return one !== undefined && two !== undefined && three !== undefined ? readTriple(one, two, three) : [];
}

function digitPairs(digits: string): (readonly [string, string])[] {
  // A spreadsheet drops a leading zero.
  const all = digits.length % 2 === 0 ? digits : `0${digits}`;
  const ends = all.length === 4 ? [2] : [2, 4];
  return ends.map((end) => [all.slice(0, end), all.slice(end)]);
}

/** Returns the readings of a month and a year, in either order. */
function readPair(first: string, second: string): Reading[] {
  const isSelfEvident = first.length === 4 || second.length === 4;
  const isNamed = isName(first) || isName(second);
  return [
    ...readingIn('my', second, first, { isSelfEvident: isSelfEvident || isNamed }),
    // In 29-Mar, 29 may also be a day.
    ...readingIn('ym', first, second, { isSelfEvident, mustBeNamed: isNamed && !isSelfEvident }),
  ];
}

/** Returns the readings of a day, a month and a year, in each order that gives a calendar date. */
function readTriple(first: string, second: string, third: string): Reading[] {
  const dates = [
    ['dmy', first, second, third],
    ['mdy', second, first, third],
    ['ymd', third, second, first],
  ] as const;
  return dates.flatMap(([order, day, month, year]) => {
    const isSelfEvident = order === 'ymd' ? year.length === 4 : year.length === 4 && isName(month);
    return readingIn(order, year, month, { isSelfEvident, day: Number(day) }).filter((reading) => isDay(day, reading));
  });
}

function readingIn(
  order: DateOrder,
  yearText: string,
  monthText: string,
  how: Pick<Reading, 'isSelfEvident' | 'mustBeNamed' | 'day'>,
): Reading[] {
  const year = twoDigitYear(yearText);
  const month = monthOfName(monthText) ?? twoDigitMonth(monthText);
  return year === undefined || month === undefined ? [] : [{ year, month, orders: [order], ...how }];
}

function isDay(text: string, { year, month }: Expiration): boolean {
  const day = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return day >= 1 && day <= new Date(Date.UTC(2000 + Number(year), Number(month), 0)).getUTCDate();
}

function isName(part: string): boolean {
  return !/\d/.test(part);
}

/** Day 0 of the day numbers of spreadsheets. */
const SERIAL_EPOCH = Date.UTC(1899, 11, 30);

function serialDate(serial: number): ReadDate | undefined {
  const date = new Date(SERIAL_EPOCH + serial * DAY_MS);
  const year = twoDigitYear(String(date.getUTCFullYear()));
  return year === undefined
    ? undefined
    : { year, month: String(date.getUTCMonth() + 1).padStart(2, '0'), day: date.getUTCDate() };
}
