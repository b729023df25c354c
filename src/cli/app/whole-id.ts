// Completes a short id, as tables show it, to the whole id.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import type { Context } from './command.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

/** The beginning of a UUID, as tables show it. */
const SHORT_ID = /^[0-9a-f]{8}$/i;

/** The number of newest log entries that are searched for a short id. */
const NEWEST_ENTRIES = 300;

/**
 * Returns the id among `ids` that begins with a typed short id. Returns any other typed text unchanged.
 * @throws SvcError `usage` if several ids begin with the typed text
 */
export async function wholeId(
  { notices }: Pick<Context, 'notices'>,
  typed: string,
  ids: () => Promise<readonly (string | null | undefined)[]>,
): Promise<string> {
  if (!SHORT_ID.test(typed)) return typed;
  const [id, ...others] = await idsBeginning(typed, ids);
  if (id === undefined) return typed;
  if (others.length > 0)
    throw new SvcError('usage', `several ids begin with ${typed}`, {
      hint: `Nothing was done. Give one of these: ${[id, ...others].join(', ')}`,
    });
  notices.note(`${typed} is ${id}`);
  return id;
}

/** Returns the ids that begin with the typed text; none if the ids cannot be read, or if the typed text is an id itself. */
async function idsBeginning(
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
  const entries = await logs.list({}, { pageSize: MAX_PAGE_SIZE }).first(NEWEST_ENTRIES);
  return entries.map(({ entity_id: id }) => id);
}
