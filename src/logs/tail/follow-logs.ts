// Follows the logs of the service (the library's entry to tails).

import { isSvcError } from '../../base/errors.ts';
import { wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { LogFilter } from '../../client/api/logs.ts';
import type { Log } from '../../schema/log.ts';
import {
  beginAt,
  DEFAULT_OVERLAP_MS,
  DEFAULT_RETENTION_MS,
  requireBegun,
  requireShortOverlap,
  type TailPosition,
} from '../entry.ts';
import { serviceLogs } from '../read-range.ts';
import { Tail, type TailOptions } from './follow.ts';
import { BELIEVED_JUMP_MS } from './steady-source.ts';

type LogSubject = Pick<LogFilter, 'entityType' | 'entityId'>;

/** The logs to follow, and the beginning and end. Times and durations are in milliseconds. */
export interface FollowOptions extends LogSubject, Partial<Omit<TailOptions, 'begin'>> {
  /** The beginning by the service's clock. Default: now. */
  readonly since?: number | undefined;
  /** A position that an earlier `onPosition` reported, to resume exactly there. */
  readonly position?: TailPosition | undefined;
}

/**
 * Follows the tenant's logs without losing or duplicating an entry, and yields batches. A batch counts as processed when
 * the next one is requested, and only then is its position reported. Outages do not end it.
 * @throws SvcError for a refused key, a beginning after the service's time, or a long overlap; the reason of the client's signal
 */
export async function* followLogs(
  client: Client,
  { entityType, entityId, since, position, ...options }: FollowOptions = {},
): AsyncGenerator<readonly Log[]> {
  const subject = { entityType, entityId };
  const { overlapMs = DEFAULT_OVERLAP_MS, retentionMs = DEFAULT_RETENTION_MS } = options;
  requireShortOverlap(overlapMs, retentionMs);
  const begin = position ?? (await beginNow(client, subject, (now) => since ?? now));
  yield* new Tail(serviceLogs(client, subject), { ...options, begin, overlapMs, retentionMs }).batches();
}

/**
 * Returns the position of a new tail. `timeOf` gets the service's time, which is learned from one response, or from two if the
 * clocks differ.
 * @throws SvcError `usage` for a beginning after the service's time, which the tail could only wait for
 */
export async function beginNow(
  client: Client,
  subject: LogSubject,
  timeOf: (now: number) => number,
): Promise<TailPosition> {
  const startedAt = client.clock.now();
  const aheadMs = await confirmedAhead(client, subject, await learnAhead(client, subject));
  const now = startedAt + aheadMs;
  const at = timeOf(now);
  requireBegun(at, now);
  return beginAt(wholeSecond(at));
}

/**
 * Confirms by a second response how far the service's clock is ahead of this machine's, unless the clocks agree. A false header
 * would let a reader begin in the future, where it loses entries.
 */
export async function confirmedAhead(client: Client, subject: LogSubject, aheadMs: number): Promise<number> {
  if (Math.abs(aheadMs) <= BELIEVED_JUMP_MS) return aheadMs;
  const again = await learnAhead(client, subject);
  return Math.abs(again) < Math.abs(aheadMs) ? again : aheadMs;
}

/** Returns the milliseconds by which the service's clock is ahead of this machine's, which a request learns, if possible. */
async function learnAhead(client: Client, subject: LogSubject): Promise<number> {
  try {
    await client.logs.list(subject, { pageSize: 1 }).pages().next();
  } catch (error) {
    client.signal.throwIfAborted();
    if (!isSvcError(error) || !error.retryable) throw error;
  }
  return client.now() - client.clock.now();
}
