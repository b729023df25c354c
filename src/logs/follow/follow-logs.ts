import { isSvcError } from '../../base/errors.ts';
import { wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { LogFilter } from '../../client/api/logs.ts';
import type { Log } from '../../schema/log.ts';
import { beginAt, DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS, type TailPosition } from '../entry.ts';
import { serviceLogs } from '../read-range.ts';
import { Tail, type TailOptions } from './follow.ts';

type LogSubject = Pick<LogFilter, 'entityType' | 'entityId'>;

/** What to follow, from where on, and until when. Times and durations in milliseconds. */
export interface FollowOptions extends LogSubject, Partial<Omit<TailOptions, 'begin'>> {
  /** Begin at this time by the service's clock; by default now. */
  readonly since?: number | undefined;
  /** Resume exactly where an earlier one was, as its `onPosition` reported. */
  readonly position?: TailPosition | undefined;
}

/**
 * Follows the tenant's logs without losing or duplicating an entry, in batches. A batch counts as taken when the next
 * one is requested: only then is the position reported. Outages do not end it.
 * @throws SvcError for a refused key; the reason of the client's signal
 */
export async function* followLogs(
  client: Client,
  { entityType, entityId, since, position, ...options }: FollowOptions = {},
): AsyncGenerator<readonly Log[]> {
  const subject = { entityType, entityId };
  const begin = position ?? (await beginNow(client, subject, (now) => since ?? now));
  const { overlapMs = DEFAULT_OVERLAP_MS, retentionMs = DEFAULT_RETENTION_MS } = options;
  yield* new Tail(serviceLogs(client, subject), { ...options, begin, overlapMs, retentionMs }).batches();
}

/** The position of a tail that begins at a time, given the service's present, which is learned first, if possible. */
export async function beginNow(
  client: Client,
  subject: LogSubject,
  timeOf: (now: number) => number,
): Promise<TailPosition> {
  const startedAt = client.clock.now();
  try {
    await client.logs.list(subject, { pageSize: 1 }).pages().next();
  } catch (error) {
    client.signal.throwIfAborted();
    if (!isSvcError(error) || !error.retryable) throw error;
  }
  return beginAt(wholeSecond(timeOf(startedAt + (client.now() - client.clock.now()))));
}
