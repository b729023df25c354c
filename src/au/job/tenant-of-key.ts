// Finds the tenant of a key from responses of the service.

import { type ErrorCode, isSvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { isObject } from '../../schema/json-value.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

/** What the newest jobs show of a key. */
export interface KeyFacts {
  /** The tenant of the key; undefined if the service names no tenant, or several. */
  readonly tenant: string | undefined;
  /** The pending jobs of the tenant. */
  readonly pending: readonly string[];
}

/** Finds the tenant of a client's key as `readKeyFacts` does. */
export async function readTenantOfKey(client: Client): Promise<string | undefined> {
  return (await readKeyFacts(client)).tenant;
}

/**
 * Finds the tenant of a client's key without creating anything: from the newest jobs, or from the tenant if the key may
 * read it.
 */
export async function readKeyFacts(client: Client): Promise<KeyFacts> {
  const jobs = (await ifAllowed(client.accountUpdater.list({ pageSize: MAX_PAGE_SIZE }).first(MAX_PAGE_SIZE))) ?? [];
  const pending = jobs.flatMap(({ id, status }) => (status === 'pending' && id) || []);
  const [first, second] = new Set(jobs.flatMap(({ tenant_id: tenant }) => tenant ?? []));
  const tenant = first === undefined ? await readSelf(client) : second === undefined ? first : undefined;
  return { tenant, pending };
}

/** Returns the tenant of the embedded sandbox; undefined if it does not respond. A reset gives it a new tenant. */
export async function tenantOfSandbox(client: Client): Promise<string | undefined> {
  try {
    return (await client.tenant.read()).id;
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
}

/** Reads the tenant with the private key, because the management key may belong to another tenant. */
async function readSelf(client: Client): Promise<string | undefined> {
  const request = { method: 'GET', path: '/tenants/self', key: 'private', attempts: 1 } as const;
  const read = client.any.send({ ...request, permission: 'tenant:read' });
  const response = await ifAllowed(read, 'unauthorized', 'rejected');
  const tenant = response?.body?.json;
  const id = isObject(tenant) ? tenant['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Returns the result of a read; undefined if the read is forbidden or finds nothing. */
async function ifAllowed<T>(read: Promise<T>, ...refusals: ErrorCode[]): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isSvcError(error, 'not_found', 'forbidden', ...refusals)) return undefined;
    throw error;
  }
}
