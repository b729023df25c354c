// Hides the log entries that svc itself causes by reading logs.

import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { isoTime, SECOND_MS, wholeSecond } from '../cli/output/time.ts';
import { countText } from '../cli/output/number.ts';
import type { Client } from '../client/api/client.ts';
import type { Log } from '../schema/log.ts';
import { type ActorNames, actorText } from './actor.ts';
import { isReadOfLogs } from './filter.ts';
import { MAX_PAGE_SIZE } from '../schema/page-size.ts';

/** Counts and hides the reads of the logs by one actor: the application of this command's key. */
export class OwnReads {
  /** One of the reads, which says who the actor is. */
  readonly sample: Log;
  count = 0;

  constructor(sample: Log) {
    this.sample = sample;
  }

  /** Whether an entry is to be shown. The others are counted. */
  shows(log: Log): boolean {
    if (!isReadOfLogs(log) || log.actor_id !== this.sample.actor_id) return true;
    this.count += 1;
    return false;
  }
}

/** Returns how many own reads were hidden; undefined if none was. `actorOf` returns an actor for people. */
function hiddenText({ count, sample }: OwnReads, actorOf: (log: Log) => string): string | undefined {
  return count === 0 ? undefined : `hidden: ${countText(count, 'read')} of the logs by this key (${actorOf(sample)})`;
}

/**
 * Finds out under which actor the service logs the reads of this key, by two reads. Returns undefined if it logs none, or
 * late, or if another actor read the logs in the same seconds.
 */
async function findOwnReads(client: Client): Promise<OwnReads | undefined> {
  const listed = await client.bestEffort(async ({ logs }) => {
    // The first response shows the service's time, and its request is in the second response.
    await logs.list({}, { pageSize: 1 }).pages().next();
    const startDate = isoTime(wholeSecond(client.now()) - SECOND_MS);
    return logs.list({ startDate }, { pageSize: MAX_PAGE_SIZE }).first(MAX_PAGE_SIZE);
  });
  const reads = listed instanceof SvcError ? [] : listed.filter((log) => isReadOfLogs(log) && log.actor_id);
  const [sample] = reads;
  return sample !== undefined && reads.every((log) => log.actor_id === sample.actor_id)
    ? new OwnReads(sample)
    : undefined;
}

/** Finds out which reads are this key's own, to hide them. Where that cannot be found out, warns if it `isAskedFor`. */
export async function ownReadsToHide(context: Context, isAskedFor: boolean): Promise<OwnReads | undefined> {
  const own = await findOwnReads(await context.client());
  if (own === undefined && isAskedFor)
    context.notices.warn(
      'no read is hidden: the service does not show under which actor it logs the reads of this key',
    );
  return own;
}

/** Says how many own reads were hidden, and whose they are. */
export function reportHidden(
  { notices }: Pick<Context, 'notices'>,
  own: OwnReads | undefined,
  actors: Pick<ActorNames, 'textOf'> | undefined,
  isDefault = false,
): void {
  const text = own && hiddenText(own, (log) => actors?.textOf(log) ?? actorText(log));
  if (text !== undefined) notices.note(isDefault ? `${text}; --no-hide-own-reads shows them` : text);
}
