// Parses and formats times, durations, numbers and sizes.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../schema/durations.ts';
import type { TimeStyle } from '../config/values.ts';

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

const UNITS = [
  { name: 'd', ms: DAY_MS },
  { name: 'h', ms: HOUR_MS },
  { name: 'm', ms: MINUTE_MS },
  { name: 's', ms: 1000 },
] as const;

/** Formats a time in epoch milliseconds as RFC 3339 in UTC, with milliseconds. */
export function isoTime(at: number): string;
export function isoTime(at: number | undefined): string | undefined;
export function isoTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** Formats a time, in epoch milliseconds or RFC 3339, for a message: `2026-11-21 11:44:56Z`. */
export function utcTime(at: number | string): string {
  return `${seconds(new Date(at))}Z`;
}

/** Formats a time in UTC and, if different, in this machine's time zone: `2026-11-23 03:00Z (04:00 here)`. */
export function timeAndHere(at: number): string {
  const there = shortened(at);
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return `${there}Z`;
  const here = shortened(at + minutes * MINUTE_MS);
  const isSameDay = here.slice(0, DATE_LENGTH) === there.slice(0, DATE_LENGTH);
  return `${there}Z (${isSameDay ? here.slice(DATE_LENGTH + 1) : here} here)`;
}

/** Formats a time in UTC, without seconds if they are zero. */
function shortened(at: number): string {
  return seconds(new Date(at)).replace(/:00$/, '');
}

const DATE_LENGTH = '2026-11-23'.length;

/**
 * Formats an ISO 8601 time to the second: `2026-11-21 11:44:56Z`, in this machine's time zone, or as `3m ago`. Reads a time
 * without an offset as UTC, and returns any other text unchanged. `now` is in epoch milliseconds.
 */
export function formatTime(iso: string, mode: TimeStyle, now: number): string {
  const at = parseTime(iso);
  if (at === undefined) return iso;
  if (mode === 'relative') return relative(at, now);
  return mode === 'utc' ? `${seconds(new Date(at))}Z` : local(at);
}

// A cache of parsed times, because several steps parse the time of each log entry.
const parsedTimes = new Map<string, number>();
const MAX_PARSED_TIMES = 5_000;
const MAX_TIME_LENGTH = 40;

/** Parses an ISO 8601 time to epoch milliseconds; undefined for any other text. Accepts any number of fraction digits. */
export function parseTime(iso: string): number | undefined {
  const cached = parsedTimes.get(iso);
  if (cached !== undefined) return cached;
  const at = timeOf(iso);
  if (at === undefined || iso.length > MAX_TIME_LENGTH) return at;
  if (parsedTimes.size >= MAX_PARSED_TIMES) parsedTimes.clear();
  parsedTimes.set(iso, at);
  return at;
}

function timeOf(iso: string): number | undefined {
  const match = ISO.exec(iso);
  if (match === null) return undefined;
  const zoned = iso.length > 10 && match[1] === undefined ? `${iso}Z` : iso;
  const at = Date.parse(zoned.replace(' ', 'T'));
  return Number.isNaN(at) ? undefined : at;
}

/** The precision of times in requests: the service may ignore fractions of a second. */
export const SECOND_MS = 1000;

/** Rounds a time down to the whole second, in milliseconds. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND_MS) * SECOND_MS;
}

/** Returns the beginning of a time's day in UTC, in milliseconds. */
export function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/** Formats a duration with its two largest units: `1h 30m`, `45s`, `2d 4h`; below a second `0s`. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000) * 1000);
  const parts: string[] = [];
  for (const unit of UNITS) {
    const count = Math.floor(left / unit.ms);
    left -= count * unit.ms;
    if (count > 0) parts.push(`${count}${unit.name}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}

function relative(at: number, now: number): string {
  const distance = Math.abs(now - at);
  const unit = UNITS.find(({ ms }) => distance >= ms);
  if (unit === undefined) return 'now';
  const span = `${Math.floor(distance / unit.ms)}${unit.name}`;
  return at <= now ? `${span} ago` : `in ${span}`;
}

function local(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return `${seconds(new Date(at))}Z`;
  const sign = minutes < 0 ? '-' : '+';
  const size = Math.abs(minutes);
  const offset = `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${seconds(new Date(at + minutes * MINUTE_MS))}${offset}`;
}

function seconds(date: Date): string {
  return date.toISOString().slice(0, -5).replace('T', ' ');
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
