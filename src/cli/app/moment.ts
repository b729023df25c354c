// Parses points in time and months as operators type them.

import { SvcError } from '../../base/errors.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import { DAY_MS, HOUR_MS } from '../../schema/durations.ts';
import { parseDuration } from '../config/values.ts';
import { timeAndHere } from '../output/time.ts';

/** A typed point in time, as a function of the current time. Both are in milliseconds since the epoch. */
export interface Moment {
  (now: number): number;
  /** For a time of day without a date: returns the first such time after another time. */
  readonly firstAfter?: (at: number) => number;
  /** Whether the typed time lacks its date or its offset, so that the whole time is reported to the operator. */
  readonly isShortened?: boolean;
}

const TIME_WORDS = ['now', 'today', 'yesterday'];
const DATE_AND_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;
const CLOCK = /^(?:(today|yesterday) +)?(\d{1,2}):(\d{2})(?::(\d{2}))?([Zz]|[+-]\d{2}:\d{2})?$/;
const WITHOUT_OFFSET = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{1,2}:\d{2})(:\d{2})?$/;

/**
 * Parses a time: RFC 3339, a date (its start in UTC), a time of day (`10:00`, `yesterday 22:00`, in UTC unless an offset
 * follows), a duration ago (`2h`), `now`, the start of `today` or `yesterday` in UTC, or seconds since
 * 1970 (`@1764000000`). A time of day without a date is in the past: today or yesterday.
 */
export function moment(text: string): Moment {
  if (text === 'now') return (now) => now;
  // As `date -d` and `journalctl --since` take seconds since 1970.
  const seconds = /^@(\d{1,11})$/.exec(text)?.[1];
  if (seconds !== undefined) return () => Number(seconds) * 1000;
  const daysAgo = ['today', 'yesterday'].indexOf(text);
  if (daysAgo !== -1) return (now) => (Math.floor(now / DAY_MS) - daysAgo) * DAY_MS;
  const ago = parseDuration(text);
  // Nothing is older than 1970, and a time far before it cannot be written.
  if (ago !== undefined) return (now) => Math.max(0, now - ago);
  const clock = CLOCK.exec(text);
  if (clock !== null) return timeOfDay(clock);
  const [, date, minutes, rest = ':00'] = WITHOUT_OFFSET.exec(text) ?? [];
  const whole = date === undefined ? text : `${date}T${minutes?.padStart(5, '0')}${rest}Z`;
  if (!isRealTime(whole)) {
    const forms = '2026-01-31T09:00:00Z, 2026-01-31 or 10:00 (UTC), 2h (ago), now, today or yesterday';
    const hint = /^\d{9,13}$/.test(text) ? 'Write @ before seconds since 1970.' : didYouMean(text, TIME_WORDS);
    throw new SvcError('usage', `must be a time: ${forms}`, { hint });
  }
  const at = Date.parse(whole.replace(' ', 'T'));
  return Object.assign(() => at, { isShortened: date !== undefined });
}

/** A typed month as a function of the current time: the first millisecond of the month and of the next one, in UTC. */
export type Month = (now: number) => { readonly since: number; readonly until: number };

/** Parses a month: `last`, `this`, or `2026-11`. */
export function month(text: string): Month {
  const [, year, number = ''] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year !== undefined) return () => monthAt(Number(year), Number(number) - 1);
  const back = ['this', 'last'].indexOf(text);
  if (back === -1)
    throw new SvcError('usage', 'must be a month: last, this or 2026-11', { hint: didYouMean(text, ['last', 'this']) });
  return (now) => monthAt(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() - back);
}

function monthAt(year: number, index: number): ReturnType<Month> {
  return { since: Date.UTC(year, index), until: Date.UTC(year, index + 1) };
}

/** Parses a time for a deadline: a time of day without a date is in the future, today or tomorrow. */
export function momentAhead(text: string): Moment {
  const parsed = moment(text);
  const { firstAfter } = parsed;
  return firstAfter === undefined ? parsed : Object.assign((now: number) => firstAfter(now), { isShortened: true });
}

/**
 * Adds dates to the times of an input, so that the whole command uses the same times: a time of day for `until` is the
 * first one after `since`. Calls `report` with each completed time.
 */
export function withDates<T extends Readonly<Record<string, unknown>>>(
  input: T,
  now: number,
  report: (text: string) => void,
): T {
  const since = isMoment(input['since']) ? input['since'](now) : undefined;
  const dated = Object.entries(input).map(([name, value]) => {
    if (!isMoment(value) || !value.isShortened) return [name, value] as const;
    const { firstAfter } = value;
    const at = name === 'until' && since !== undefined && firstAfter !== undefined ? firstAfter(since) : value(now);
    report(`${name}: ${timeAndHere(at)}`);
    return [name, () => at] as const;
  });
  return { ...input, ...Object.fromEntries(dated) };
}

function isMoment(value: unknown): value is Moment {
  return typeof value === 'function';
}

function timeOfDay([text, day, hours, minutes, seconds = '00', offset = 'Z']: readonly (string | undefined)[]): Moment {
  const time = `${hours?.padStart(2, '0')}:${minutes}:${seconds}`;
  const aheadMs = Date.parse(`1970-01-01T00:00:00${offset.toUpperCase()}`) * -1;
  if (!isRealTime(`1970-01-01T${time}Z`) || Number.isNaN(aheadMs) || Math.abs(aheadMs) > 14 * HOUR_MS)
    throw new SvcError('usage', `must be a time of day from 00:00 to 23:59${text === undefined ? '' : ', in UTC'}`);
  const sinceMidnight = Date.parse(`1970-01-01T${time}Z`);
  const onDay = (days: number): number => days * DAY_MS + sinceMidnight - aheadMs;
  const dayOf = (at: number): number => Math.floor((at + aheadMs) / DAY_MS);
  if (day !== undefined)
    return Object.assign((now: number) => onDay(dayOf(now) - (day === 'today' ? 0 : 1)), { isShortened: true });
  const lastBefore = (now: number): number => {
    const today = onDay(dayOf(now));
    return today <= now ? today : today - DAY_MS;
  };
  return Object.assign(lastBefore, { firstAfter: (at: number) => lastBefore(at) + DAY_MS, isShortened: true });
}

// Date.parse accepts 30 February and returns 2 March.
function isRealTime(text: string): boolean {
  const [, date = '', time = '00:00:00'] = DATE_AND_TIME.exec(text) ?? [];
  const at = Date.parse(`${date}T${time}Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(`${date}T${time}`);
}
