import { SvcError } from '../../base/errors.ts';
import { isLoopback } from '../../schema/address.ts';
import { objectOrUndefined } from '../../schema/json-value.ts';
import type { KeyType } from '../../schema/tenant.ts';
import type { Client } from './client.ts';

/** What a sandbox server says of itself to one of its keys. */
interface SandboxKey {
  readonly permissions: readonly unknown[];
  /** Whether it takes each token for a card, and invents the results. */
  readonly inventsResults: boolean;
}

/** Asks a service on this machine for what only the sandbox serves. Returns undefined for any other service. */
export async function readSandboxKey(client: Client, key: KeyType): Promise<SandboxKey | undefined> {
  if (!isLoopback(client.baseUrl)) return undefined;
  const response = await client.bestEffort(({ any }) => any.send({ method: 'GET', path: '/sandbox/key', key }));
  if (response instanceof SvcError) return undefined;
  const body = objectOrUndefined(response.body?.json);
  const permissions = body?.['permissions'];
  if (!Array.isArray(permissions)) return undefined;
  return { permissions, inventsResults: body?.['invents_results'] === true };
}
