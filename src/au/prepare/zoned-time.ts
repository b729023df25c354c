// Reads times with a time zone, in the calendar of any zone.

import { type ReadDate, twoDigitYear } from '../date-parts.ts';

/** A date and a time with a zone, such as 2029-03-31T00:00:00Z or 2029-03-31 23:59 +02:00. */
const ZONED = /^(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d)(:\d\d)?(?:[.,]\d{1,9})? ?(?:z|utc|gmt|([-+])(\d\d):?(\d\d)?)$/i;

/** Returns the instant of a time with a zone, and whether it is the beginning or the end of a day there. */
export function instantOf(cell: string): { readonly instant: number; readonly isBoundary: boolean } | undefined {
  const parts = ZONED.exec(cell);
  if (parts === null) return undefined;
  const [, date = '', time = '', seconds = ':00', sign, hours = '0', minutes = '0'] = parts;
  const written = Date.parse(`${date}T${time}${seconds}Z`);
  if (Number.isNaN(written)) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return { instant: written - offset, isBoundary: time === '00:00' || time === '23:59' };
}

/** Returns the date of an instant in the calendar of a time zone. */
export function dateIn(zone: string, instant: number): ReadDate | undefined {
  const parts = zoneFormat(zone).formatToParts(instant);
  const [full, month, day] = ['year', 'month', 'day'].map((type) => parts.find((part) => part.type === type)?.value);
  const year = twoDigitYear(full ?? '');
  return year === undefined || month === undefined ? undefined : { year, month, day: Number(day) };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for a time zone that does not exist */
export function zoneFormat(zone: string): Intl.DateTimeFormat {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  formats.set(zone, format);
  return format;
}
