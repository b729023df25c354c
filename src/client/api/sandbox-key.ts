// Reads which permissions the sandbox gives to a key.

import { SvcError } from '../../base/errors.ts';
import { isLoopback } from '../../schema/address.ts';
import { objectOrUndefined } from '../../schema/json-value.ts';
import type { KeyType } from '../../schema/tenant.ts';
import type { Client } from './client.ts';

/** The facts that a sandbox server reports about one of its keys. */
interface SandboxKey {
  readonly permissions: readonly unknown[];
  /** Whether the sandbox accepts any token as a card and invents the results. */
  readonly inventsResults: boolean;
}

/** Reads the facts about a key from a sandbox server on this machine. Returns undefined for any other service. */
export async function readSandboxKey(client: Client, key: KeyType): Promise<SandboxKey | undefined> {
  if (!isLoopback(client.baseUrl)) return undefined;
  const response = await client.bestEffort(({ any }) => any.send({ method: 'GET', path: '/sandbox/key', key }));
  if (response instanceof SvcError) return undefined;
  const body = objectOrUndefined(response.body?.json);
  const permissions = body?.['permissions'];
  if (!Array.isArray(permissions)) return undefined;
  return { permissions, inventsResults: body?.['invents_results'] === true };
}
