import { SvcError } from '../../base/errors.ts';
import { SECOND_MS, utcTime, wholeSecond } from '../../cli/output/time.ts';
import type { TailState } from '../entry.ts';
import { BELIEVED_JUMP_MS, type SteadySource } from './steady-source.ts';

export interface CheckOptions {
  readonly overlapMs: number;
  /** The milliseconds since this process last read the log; undefined if it has not. */
  readonly sinceReadMs: number | undefined;
}

/**
 * Compares a position with the service's time, because a false `Date` header may have moved the position into the future,
 * where nothing is read. A time up to which the log cannot have been read is taken back to the last one that is certain, so
 * that catching up and gaps are noticed. Returns the number of requests.
 * @throws SvcError `bad_response` if the clock is before the position, so that the present is unknown
 */
export async function checkPosition(
  source: SteadySource,
  state: TailState,
  { overlapMs, sinceReadMs }: CheckOptions,
): Promise<number> {
  const toleratedMs = sinceReadMs === undefined ? Math.max(overlapMs, BELIEVED_JUMP_MS) : BELIEVED_JUMP_MS;
  const { settled, newest = -Infinity } = state;
  if (state.readTo <= source.now() + toleratedMs) return 0;
  // Without a request, neither this machine's clock nor a false header would ever be corrected.
  await source.probe({ from: settled, to: settled + SECOND_MS });
  const requests = 1 + (await source.follow(settled));
  const now = source.now();
  if (settled > now + BELIEVED_JUMP_MS) throw clockBehind(now, settled);
  if (state.readTo <= now + toleratedMs) return requests;
  const lastRead = sinceReadMs === undefined ? -Infinity : wholeSecond(now - sinceReadMs);
  // The second of the newest entry counts as read, so that a new entry of that second is a late one.
  state.readTo = Math.max(settled, lastRead, wholeSecond(newest) + SECOND_MS);
  return requests;
}

function clockBehind(now: number, settled: number): SvcError {
  const words = `the service's clock shows ${utcTime(now)}, before the position in the log, ${utcTime(settled)}`;
  return new SvcError('bad_response', words, {
    hint: 'Its Date header or that of a gateway may be wrong. If it is right, the position is not: begin again at an earlier time.',
    retryable: true,
  });
}
