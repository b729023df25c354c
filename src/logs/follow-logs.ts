import type { Client } from '../api/client.ts';
import type { LogFilter } from '../api/logs.ts';
import { isSvcError } from '../errors.ts';
import type { Log } from '../schema/log.ts';
import { beginAt, type TailPosition } from './checkpoint.ts';
import { serviceLogs, type TailOptions, wholeSecond } from './entry.ts';
import { Tail } from './follow.ts';

/** How late an entry may come, in milliseconds, where nobody says. */
export const DEFAULT_OVERLAP_MS = 120_000;
/** How long the service keeps entries, in milliseconds, where nobody says. */
export const DEFAULT_RETENTION_MS = 86_400_000;

type LogSubject = Pick<LogFilter, 'entityType' | 'entityId'>;

/** What to follow, from where on, and until when. Times and durations in milliseconds. */
export interface FollowOptions extends LogSubject, Partial<Omit<TailOptions, 'begin'>> {
  /** Begin at this time by the service's clock; by default now. */
  readonly since?: number | undefined;
  /** Go on exactly where an earlier one stood, as its `onStanding` told. */
  readonly standing?: TailPosition | undefined;
}

/**
 * Follows the tenant's logs without losing or doubling an entry, in batches. A batch counts as taken when the next one
 * is asked for: only then is the standing told. Outages do not end it.
 * @throws SvcError for a refused key; the reason of the client's signal
 */
export async function* followLogs(
  client: Client,
  options: FollowOptions = {},
): AsyncGenerator<readonly Log[]> {
  const { entityType, entityId, since, standing, ...rest } = options;
  const subject = { entityType, entityId };
  const begin = standing ?? (await beginNow(client, subject, (now) => since ?? now));
  const { overlapMs = DEFAULT_OVERLAP_MS, retentionMs = DEFAULT_RETENTION_MS } = rest;
  yield* new Tail(serviceLogs(client, subject), { ...rest, begin, overlapMs, retentionMs }).batches();
}

/**
 * The standing of a tail that begins at a time, given the service's present. That is learned first: a clock that runs
 * ahead here would begin too late. Where no answer comes, the tail will wait for one.
 */
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
