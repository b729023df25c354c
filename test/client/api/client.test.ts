import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Client } from '../../../src/client/api/client.ts';
import { serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';

const READ = { method: 'GET', path: '/applications', key: 'management' } as const;

it.each(['a-key\n', 'a key', 'ключ'])(
  'R06 and R15: a client refuses the key %j at once, and sends nothing',
  async (managementKey) => {
    const server = await serve([json({})]);
    const client = new Client({ baseUrl: server.url, managementKey });
    await expect(client.any.send(READ)).rejects.toMatchObject({
      code: 'config',
      message: 'the option managementKey contains a character that no key contains',
    });
    expect(server.ledger).toEqual([]);
    await client.close();
  },
);

it.each(['http://127.0.0.1:1/?a=b', 'http://example.com', 'https://u:p@example.com'])(
  'a client refuses the base URL %s',
  (baseUrl) => {
    expect(() => new Client({ baseUrl })).toThrow('without user, password or query');
  },
);

it('R15: a client tries once what cannot be sent, such as a key with a line break from its own finder', async () => {
  const server = await serve([json({})]);
  const client = new Client({ baseUrl: server.url, key: async () => ({ value: 'a\nkey', origin: 'a test' }) });
  await expect(client.any.send(READ)).rejects.toMatchObject({
    code: 'local',
    message: 'failed on this machine: InvalidArgumentError: invalid svc-api-key header',
  });
  expect(server.ledger).toEqual([]);
  await client.close();
});

it('R62: a client that can only read refuses every change', async () => {
  const server = await serve([json({})]);
  const client = new Client({ baseUrl: server.url, managementKey: 'a-key', readOnly: true });
  await expect(client.tenant.delete()).rejects.toMatchObject({
    code: 'usage',
    message: 'a client that can only read was asked to send DELETE',
  });
  expect(server.ledger).toEqual([]);
  await client.close();
});

const CARD = '4111111111111111';

it.each([
  ['the tenant', (client: Client) => client.tenant.update({ name: CARD, settings: {} })],
  ['a setting', (client: Client) => client.tenant.update({ name: 'Acme', settings: { note: `x ${CARD}` } })],
  ['a session', (client: Client) => client.threeDs.create({ token_id: CARD, type: 'customer' })],
  ['an authentication', ({ threeDs }: Client) => threeDs.authenticate('1', { note: CARD } as never)],
])('R40: a client sends no card number in the body of %s', async (_, send) => {
  const server = await serve([json({})]);
  const client = new Client({ baseUrl: server.url, managementKey: 'a-key', privateKey: 'a-key' });
  const refused = await send(client).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'refused_input' });
  expect(inspect(refused)).not.toContain(CARD);
  expect(server.ledger).toEqual([]);
  await client.close();
});

it('R06: a client that is printed shows no key', async () => {
  const client = new Client({ baseUrl: 'https://service.example', managementKey: 'canary-1', privateKey: 'canary-2' });
  expect(inspect(client, { depth: Infinity, showHidden: true })).not.toContain('canary');
  await client.close();
});
