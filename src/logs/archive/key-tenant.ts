import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';

/** Returns the id of the key's tenant. If the key may not read the tenant, the newest entries show the id, if they agree. */
export async function learnTenant(client: Client, expected?: string): Promise<string | undefined> {
  try {
    return (await client.tenant.read()).id;
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
  }
  const newest = await client.logs.list({}, { pageSize: 100 }).first(100);
  const found = new Set(newest.flatMap(({ tenant_id: id }) => id ?? []));
  if (expected !== undefined && found.has(expected)) return expected;
  return found.size === 1 ? [...found][0] : undefined;
}

export function unknownTenant(): SvcError {
  return new SvcError('forbidden', 'cannot tell which tenant the key belongs to', {
    hint: 'Give the key the permission tenant:read, or run the command again once there are log entries.',
  });
}
