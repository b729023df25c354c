import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import type { Context } from './command.ts';

/** The beginning of a UUID, as tables show it. */
const SHORT_ID = /^[0-9a-f]{8}$/i;

/** How many of the newest log entries name the entities that a short id may stand for. */
const NEWEST_ENTRIES = 300;

/**
 * Does something with an id. If the service knows none that is exactly as typed, but one of `ids` begins so, does it with that
 * one.
 * @throws SvcError `usage` if several begin so
 */
export async function withWholeId<T>(
  context: Context,
  typed: string,
  ids: () => Promise<readonly (string | null | undefined)[]>,
  work: (id: string) => Promise<T>,
): Promise<T> {
  try {
    return await work(typed);
  } catch (error) {
    if (!isSvcError(error, 'not_found', 'job_expired') || !SHORT_ID.test(typed)) throw error;
    const [id, ...others] = await beginningSo(typed, ids);
    if (id === undefined) throw error;
    if (others.length > 0)
      throw new SvcError('usage', `several ids begin with ${typed}`, {
        hint: `Give one of these: ${[id, ...others].join(', ')}`,
      });
    context.notices.note(`${typed} is ${id}`);
    return work(id);
  }
}

/** Returns the known ids that begin as typed; none if they cannot be read, since this only says more. */
async function beginningSo(
  typed: string,
  ids: () => Promise<readonly (string | null | undefined)[]>,
): Promise<readonly string[]> {
  try {
    const known = await ids();
    const begins = (id: string): boolean => id.toLowerCase().startsWith(`${typed.toLowerCase()}-`);
    const near = known.flatMap((id) => (id && begins(id) ? [id] : []));
    return [...new Set(near)];
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return [];
  }
}

/** Returns the ids of the entities in the newest log entries. */
export async function loggedIds({ logs }: Client): Promise<readonly (string | null | undefined)[]> {
  const entries = await logs.list({}, { pageSize: 100 }).first(NEWEST_ENTRIES);
  return entries.map(({ entity_id: id }) => id);
}
