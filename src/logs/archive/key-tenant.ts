import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';

/**
 * Returns the id of the key's tenant. If the key may not read the tenant, the newest entries show the id if all of them name
 * the same one. @throws SvcError `forbidden` if they do not: another tenant may share entries, so one entry proves nothing
 */
export async function learnTenant(client: Client): Promise<string> {
  try {
    return (await client.tenant.read()).id;
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
  }
  const newest = await client.logs.list({}, { pageSize: 100 }).first(100);
  const [id, ...others] = new Set(newest.flatMap(({ tenant_id: id }) => id ?? []));
  if (id !== undefined && others.length === 0) return id;
  throw new SvcError('forbidden', 'cannot tell which tenant the key belongs to', {
    hint:
      id === undefined
        ? 'Give the key the permission tenant:read, or run the command again once there are log entries.'
        : 'Give the key the permission tenant:read: its log has entries of several tenants.',
  });
}
