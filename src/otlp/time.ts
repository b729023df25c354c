import { parseTime } from '../render/time.ts';

const FRACTION = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\.(\d{1,9})(?=Z|[+-]|$)/i;

/**
 * Nanoseconds since the epoch of an ISO 8601 time, as OTLP's JSON writes them: a decimal number in a string, exact to
 * the last digit of the fraction. Undefined where the time cannot be read, is not after 1970 began, or is finer than that.
 */
export function unixNano(iso: string): string | undefined {
  const [, whole = iso, fraction = ''] = FRACTION.exec(iso) ?? [];
  const rest = fraction === '' ? '' : iso.slice(whole.length + 1 + fraction.length);
  const ms = parseTime(whole + rest);
  if (ms === undefined || ms <= 0 || ms % 1000 !== 0) return undefined;
  return String(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
