import { parseDuration } from '../duration.ts';
import { SvcError } from '../errors.ts';

/** A point in time as typed; what it means can depend on now. Milliseconds since the epoch. */
export type Moment = (now: number) => number;

const DAY_MS = 86_400_000;
const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-](\d{2}):(\d{2}))$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Reads RFC 3339 with an offset, a date (its start, UTC), a duration ago (`2h`), `now` or `yesterday`. */
export function moment(text: string): Moment {
  if (text === 'now') return (now) => now;
  if (text === 'yesterday') return (now) => startOfDay(now) - DAY_MS;
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const at = isRealTime(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (!Number.isNaN(at)) return () => at;
  throw new SvcError(
    'usage',
    'must be a time: 2026-01-31T09:00:00Z, 2026-01-31 (UTC), 2h (ago), now or yesterday',
  );
}

function startOfDay(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS;
}

// Date.parse moves 30 February to March: a date that does not exist is a mistake, not another date.
function isRealTime(text: string): boolean {
  if (DATE.test(text)) return isRealDate(text);
  const parts = RFC3339.exec(text);
  if (!parts || !isRealDate(parts[1] ?? '')) return false;
  const [hour, minute, second, offsetHour, offsetMinute] = [2, 3, 4, 7, 8].map((index) =>
    Number(parts[index] ?? 0),
  );
  return (
    (hour ?? 99) < 24 &&
    (minute ?? 99) < 60 &&
    (second ?? 99) < 60 &&
    (offsetHour ?? 99) < 24 &&
    (offsetMinute ?? 99) < 60
  );
}

function isRealDate(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
