import { parseDuration } from '../duration.ts';
import { SvcError } from '../errors.ts';

/** Reads a duration such as `90s`, `15m`, `1h30m` or `7d`, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new SvcError('usage', 'must be a duration such as 90s, 15m, 1h30m or 7d');
  return ms;
}

/** A duration longer than nothing. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new SvcError('usage', 'must be longer than nothing');
  return ms;
}
