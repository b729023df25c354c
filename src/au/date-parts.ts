// Reads the parts of a date: years and months.

/** An expiration as in a request file: a year and a month of two digits each. */
export interface Expiration {
  readonly year: string;
  readonly month: string;
}

/** An expiration with the day or time that its cell also has. */
export interface ReadDate extends Expiration {
  /** The day of the month. */
  readonly day?: number | undefined;
  /** A time with a zone, in milliseconds, unless it is the beginning or the end of a day in that zone. */
  readonly instant?: number | undefined;
}

/** Returns the last two digits of a year of this century; undefined for anything else. */
export function twoDigitYear(year: string): string | undefined {
  return /^(?:20)?(\d{2})(?:\.0+)?$/.exec(year)?.[1];
}

/** Returns a month as two digits; undefined for anything else. */
export function twoDigitMonth(month: string): string | undefined {
  return /^(0?[1-9]|1[0-2])(?:\.0+)?$/.exec(month)?.[1]?.padStart(2, '0');
}

/** Returns two digits for the English name of a month or its first three letters. */
export function monthOfName(name: string): string | undefined {
  const lower = name.toLowerCase();
  const at = MONTHS.findIndex((month) => lower === month || lower === month.slice(0, 3));
  const month = lower === 'sept' ? 9 : at + 1;
  return month === 0 ? undefined : String(month).padStart(2, '0');
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
