import { SvcError } from '../base/errors.ts';
import type { KeyReport } from '../cli/app/check-key.ts';
import type { Context } from '../cli/app/command.ts';
import type { Client } from '../client/api/client.ts';
import { WRITE_PERMISSIONS } from '../client/api/any-endpoint.ts';
import { isLoopback } from '../schema/address.ts';
import { objectOrUndefined } from '../schema/json-value.ts';
import type { KeyType } from '../schema/tenant.ts';

/** The status of a permission to write, as the sandbox says; null at another service, which shows it only by a change. */
export type WriteStatus = 'allowed' | 'forbidden' | null;

/** Asks the sandbox which permissions to write the keys have, without writing. */
export async function writePermissions(
  context: Context,
  keys: readonly KeyReport[],
): Promise<Record<string, WriteStatus>> {
  const usable = keys.filter(({ check }) => check?.verdict === 'accepted' || check?.verdict === 'powerless');
  const known = new Map(
    await Promise.all(usable.map(async ({ kind }) => [kind, await statusOf(context, kind)] as const)),
  );
  return Object.fromEntries(WRITE_PERMISSIONS.map(({ name, kind }) => [name, known.get(kind)?.(name) ?? null]));
}

async function statusOf(context: Context, kind: KeyType): Promise<(name: string) => WriteStatus> {
  const client = await context.client();
  const listed = isLoopback(client.baseUrl) ? await permissionsInSandbox(client, kind) : undefined;
  return (name) => (listed === undefined ? null : listed.includes(name) ? 'allowed' : 'forbidden');
}

/** Returns the permissions that the sandbox lists for a key; undefined for any other service on this machine. */
async function permissionsInSandbox(client: Client, key: KeyType): Promise<readonly unknown[] | undefined> {
  const response = await client.bestEffort(({ any }) => any.send({ method: 'GET', path: '/sandbox/key', key }));
  if (response instanceof SvcError) return undefined;
  const permissions = objectOrUndefined(response.body?.json)?.['permissions'];
  return Array.isArray(permissions) ? permissions : undefined;
}
