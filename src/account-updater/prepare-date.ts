/** Which of two numbers of two digits is the month: the first (`my`) or the second (`ym`). */
export const DATE_ORDERS = ['my', 'ym'] as const;

export type DateOrder = (typeof DATE_ORDERS)[number];

/** An expiration as a request file has it: two digits each. */
export interface Expiration {
  readonly year: string;
  readonly month: string;
}

/** A date of a database, as in 2027-05-31 or 2027-05-31T23:59:59Z. */
const WHOLE_DATE = /^(20\d{2})-(\d{2})-\d{2}(?:[T ].*)?$/;
const TWO_NUMBERS = /^(\d{1,4}) ?[-/. ] ?(\d{1,4})$/;
const DIGITS_ONLY = /^\d{3,6}$/;

/**
 * Reads a month and a year that stand in one cell: `MM/YY`, `M/YYYY`, `YYYY-MM`, `MMYY`, a whole date and the like.
 * Without an `order`, what can be read two ways is `ambiguous`.
 */
export function readExpiration(cell: string, order?: DateOrder): Expiration | 'ambiguous' | undefined {
  const readings = new Map<string, Expiration>();
  for (const [first, second] of pairsIn(cell)) {
    // A year of four digits shows the order by itself.
    const isSelfEvident = first.length === 4 || second.length === 4;
    if (order !== 'ym' || isSelfEvident) addReading(readings, first, second);
    if (order !== 'my' || isSelfEvident) addReading(readings, second, first);
  }
  const [only] = readings.values();
  return readings.size > 1 ? 'ambiguous' : only;
}

/** The last two digits of a year of this century; undefined for anything else. */
export function twoDigitYear(year: string): string | undefined {
  return /^(?:20)?(\d{2})$/.exec(year)?.[1];
}

/** The two digits of a month; undefined for anything else. */
export function twoDigitMonth(month: string): string | undefined {
  return /^(?:0?[1-9]|1[0-2])$/.test(month) ? month.padStart(2, '0') : undefined;
}

function pairsIn(cell: string): (readonly [string, string])[] {
  const [, first, second] = WHOLE_DATE.exec(cell) ?? TWO_NUMBERS.exec(cell) ?? [];
  if (first !== undefined && second !== undefined) return [[first, second]];
  if (!DIGITS_ONLY.test(cell)) return [];
  // A spreadsheet drops a zero at the start.
  const digits = cell.length % 2 === 0 ? cell : `0${cell}`;
  const ends = digits.length === 4 ? [2] : [2, 4];
  return ends.map((end) => [digits.slice(0, end), digits.slice(end)]);
}

function addReading(readings: Map<string, Expiration>, monthText: string, yearText: string): void {
  const [month, year] = [twoDigitMonth(monthText), twoDigitYear(yearText)];
  if (month !== undefined && year !== undefined) readings.set(year + month, { year, month });
}
