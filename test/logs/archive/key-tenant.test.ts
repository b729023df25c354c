import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { Client } from '../../../src/client/api/client.ts';
import { learnTenant } from '../../../src/logs/archive/key-tenant.ts';

/** Returns a client of a key whose entries name these tenants. It may not read its tenant unless an id or an error is given. */
function client(entries: readonly (string | undefined)[], self: string | SvcError = forbidden()): Client {
  const read = (): Promise<{ id: string }> =>
    typeof self === 'string' ? Promise.resolve({ id: self }) : Promise.reject(self);
  const first = (): Promise<unknown> => Promise.resolve(entries.map((tenant_id) => ({ tenant_id })));
  return { tenant: { read }, logs: { list: () => ({ first }) } } as unknown as Client;
}

function forbidden(): SvcError {
  return new SvcError('forbidden', 'the key lacks tenant:read');
}

it.each([
  ['is read', client(['t-2'], 't-1'), undefined, 't-1'],
  ['is that of the newest entries for a key that may not read it', client([undefined, 't-1', 't-1']), undefined, 't-1'],
  ['is not known from entries of two tenants', client(['t-1', 't-2']), undefined, undefined],
  ['is the expected one if an entry is of that', client(['t-1', 't-2']), 't-2', 't-2'],
  ['is not the expected one if no entry is of that', client(['t-1']), 't-2', 't-1'],
  ['is not known without entries', client([]), 't-1', undefined],
])('the tenant of an archive %s', async (_, of, expected, tenant) => {
  expect(await learnTenant(of, expected)).toBe(tenant);
});

it('the tenant of an archive is not taken from entries where it could not be asked for', async () => {
  const lost = new SvcError('network', 'no response');
  await expect(learnTenant(client(['t-1'], lost))).rejects.toBe(lost);
});
