import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { Client } from '../../../src/client/api/client.ts';
import { learnTenant } from '../../../src/logs/archive/archive.ts';

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
  ['is read', client(['t-2'], 't-1')],
  ['is that of the newest entries for a key that may not read it', client([undefined, 't-1', 't-1'])],
])('the tenant of a key %s', async (_, of) => {
  expect(await learnTenant(of)).toBe('t-1');
});

it.each([
  ['from entries of two tenants', client(['t-1', 't-2']), 'its log has entries of several tenants'],
  ['without entries', client([]), 'once there are log entries'],
  ['from entries that name none', client([undefined]), 'once there are log entries'],
])('the tenant of a key that may not read it is not known %s', async (_, of, hint) => {
  const refused = learnTenant(of);
  await expect(refused).rejects.toMatchObject({ code: 'forbidden', hint: expect.stringContaining(hint) });
});

it('the tenant of a key is not taken from entries where it could not be asked for', async () => {
  const lost = new SvcError('network', 'no response');
  await expect(learnTenant(client(['t-1'], lost))).rejects.toBe(lost);
});
