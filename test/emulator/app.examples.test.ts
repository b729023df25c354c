import { expect, it } from 'vitest';
import { API_ROUTES } from '../../src/emulator/routes/api.ts';
import { exampleRequestFile, sandboxThreeDsCards } from '../../src/emulator/vault/cards.ts';
import { serve } from '../support/fault-server.ts';
import { answer } from '../support/fault-steps.ts';
import { bodyOf } from '../support/request-reader.ts';
import { differences, INTERFACE_EXAMPLES, interfaceExample } from '../support/interface.ts';
import { MANAGEMENT, PRIVATE } from './harness.ts';
import { threeDsSandbox, tokenFor } from './three-ds/three-ds-harness.ts';
import { until } from '../support/until.ts';

type Sandbox = Awaited<ReturnType<typeof threeDsSandbox>>;

const CHALLENGED = tokenFor('Successful Challenge Authentication');

/** Creates a session with all that a request may say about a device, and authenticates it up to its challenge. */
async function openSession(on: Sandbox, token: object): Promise<string> {
  const { device_info } = interfaceExample('3ds-read').body as { device_info: unknown };
  const { id } = await on.created({ ...token, type: 'customer', device: 'browser', device_info });
  await on.authenticated(id, interfaceExample('3ds-authenticate').request);
  return id;
}

/** Functions that create what the request of an example needs, and return the id in its path. */
const PREPARE: Readonly<Record<string, (on: Sandbox) => Promise<string>>> = {
  '3ds-authenticate': async (on) => (await on.start('Successful Frictionless Authentication')).id,
  '3ds-challenge-result': async (on) => {
    const { id } = await on.start('Successful Frictionless Authentication');
    await on.authenticated(id, interfaceExample('3ds-authenticate').request);
    return id;
  },
  '3ds-read': async (on) => (await on.start('Successful Frictionless Authentication')).id,
  'job-read': async (on) => (await on.process(exampleRequestFile())).id,
  'job-list': async (on) => {
    await on.process(exampleRequestFile());
    return (await on.createJob()).id;
  },
};

const REQUESTS = [...INTERFACE_EXAMPLES].filter(([, { path }]) => path !== 'webhook');

it('the examples of the interface are of every endpoint that responds with a body', () => {
  const covered = REQUESTS.map(([, { method, path }]) => `${method} ${path}`);
  const routes = API_ROUTES.filter(({ method, path }) => method !== 'DELETE' && path !== '/tokens');
  expect(routes.map(({ method, path }) => `${method} ${path.replace(':id', '{id}')}`).toSorted()).toEqual(
    covered.toSorted(),
  );
});

it.each(REQUESTS)(
  'the examples of the interface have the shape of what the sandbox responds: %s',
  async (name, example) => {
    const on = await threeDsSandbox();
    const id = (await PREPARE[name]?.(on)) ?? '';
    const { method, path, query = '', request, status } = example;
    const created = name === '3ds-create' ? { token_id: CHALLENGED, type: 'customer' } : request;
    const isPrivate = /^\/(3ds|account-updater)/.test(path);
    const response = await on.call(`${path.replace('{id}', id)}?${query}`, {
      method,
      headers: isPrivate ? PRIVATE : MANAGEMENT,
      body: created === undefined ? null : JSON.stringify(created),
    });
    expect(response.status).toBe(status);
    const optional = name === '3ds-read' ? NOT_YET : [];
    const body: unknown = await response.json();
    expect(differences(body, { ...example, optional: [...example.optional, ...optional] })).toEqual([]);
  },
);

it.each(['token_id', 'token_intent_id', 'pan'])(
  'the examples of the interface have the shape of a whole session by %s',
  async (named) => {
    const on = await threeDsSandbox();
    const card = sandboxThreeDsCards().find(({ token }) => token === CHALLENGED);
    const token = named === 'token_intent_id' ? card?.token_intent : card?.token;
    const id = await openSession(on, { [named]: token });
    const result = await on.result(id);
    await fetch(result.acs_challenge_url ?? '', {
      method: 'POST',
      body: new URLSearchParams({ answer: 'code', code: '123456' }),
    });
    const example = interfaceExample('3ds-read');
    const missing = named === 'token_intent_id' ? ['token_id', 'authentication.token_id'] : [];
    const optional = [...example.optional, ...missing];
    expect(differences(await on.read(id), { ...example, optional })).toEqual([]);
    const whole = interfaceExample('3ds-challenge-result');
    expect(differences(await on.result(id), { ...whole, optional: [] })).toEqual([]);
  },
);

it('the examples of the interface have the shape of what a webhook receives', async () => {
  const receiver = await serve([answer(200)]);
  const on = await threeDsSandbox({ webhooks: [receiver.url.href] });
  await on.process(exampleRequestFile());
  await until(() => receiver.whole().length === 2);
  for (const delivery of receiver.ledger)
    expect(differences(bodyOf(delivery), interfaceExample('webhook'))).toEqual([]);
});

// A session without a device lacks these members until it is authenticated.
const NOT_YET = ['modified_date', 'modified_by', 'device_info', 'authentication', 'authentication.*'];
