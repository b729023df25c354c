import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import type { Context } from './command.ts';

/** The beginning of a UUID, as tables show it. */
const SHORT_ID = /^[0-9a-f]{8}$/i;

/** How many of the newest log entries name the entities that a short id may stand for. */
const NEWEST_ENTRIES = 300;

/**
 * Returns the id that a word stands for: the one of `ids` that begins with it, if it has the form of a short id, else the
 * word itself.
 * @throws SvcError `usage` if several begin so, before anything else is sent
 */
export async function wholeId(
  { notices }: Pick<Context, 'notices'>,
  typed: string,
  ids: () => Promise<readonly (string | null | undefined)[]>,
): Promise<string> {
  if (!SHORT_ID.test(typed)) return typed;
  const [id, ...others] = await beginningSo(typed, ids);
  if (id === undefined) return typed;
  if (others.length > 0)
    throw new SvcError('usage', `several ids begin with ${typed}`, {
      hint: `Nothing was done. Give one of these: ${[id, ...others].join(', ')}`,
    });
  notices.note(`${typed} is ${id}`);
  return id;
}

/** Returns the known ids that begin as typed; none if they cannot be read, or if one is exactly as typed. */
async function beginningSo(
  typed: string,
  ids: () => Promise<readonly (string | null | undefined)[]>,
): Promise<readonly string[]> {
  try {
    const known = await ids();
    const begins = (id: string): boolean => id.toLowerCase().startsWith(`${typed.toLowerCase()}-`);
    const near = known.flatMap((id) => (id && begins(id) ? [id] : []));
    return known.includes(typed) ? [] : [...new Set(near)];
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
