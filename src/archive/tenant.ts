import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';

/**
 * The id of the tenant that the key is of: as the service says, or, where the key may not read that, as the newest log
 * entries say. Other tenants may share entries with it: `expected` counts where it is among theirs. Undefined where the
 * entries cannot tell.
 */
export async function learnTenant(client: Client, expected?: string): Promise<string | undefined> {
  try {
    return (await client.tenant.read()).id;
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
  }
  const newest = await client.logs.list({}, { pageSize: 100 }).pages().next();
  if (newest.done === true) return undefined;
  const found = new Set(newest.value.items.flatMap(({ tenant_id: id }) => id ?? []));
  if (expected !== undefined && found.has(expected)) return expected;
  return found.size === 1 ? [...found][0] : undefined;
}

/** The failure to begin an archive of a tenant that nobody names. */
export function unknownTenant(): SvcError {
  return new SvcError('forbidden', 'it could not be learnt which tenant the key is of', {
    hint: 'Give the key the permission tenant:read, or run the command again once there are log entries.',
  });
}
