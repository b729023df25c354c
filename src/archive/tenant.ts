import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';

/**
 * The id of the tenant that the key is of: as the service says, or, where the key may not ask that, as the newest log
 * entry says. Undefined where it may not ask and there is no entry.
 */
export async function learnTenant(client: Client): Promise<string | undefined> {
  try {
    return (await client.tenant.read()).id;
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
  }
  const newest = await client.logs.list({}, { pageSize: 1 }).pages().next();
  return newest.done === true ? undefined : (newest.value.items[0]?.tenant_id ?? undefined);
}

/** The failure to begin an archive of a tenant that nobody names. */
export function unknownTenant(): SvcError {
  return new SvcError('forbidden', 'it could not be learnt which tenant the key is of', {
    hint: 'Give the key the permission tenant:read, or run the command again once there are log entries.',
  });
}
