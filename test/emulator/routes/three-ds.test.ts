import { expect, it } from 'vitest';
import { NAMESPACE, uuidOf } from '../../../src/emulator/seed/random.ts';
import { sandboxCards, sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { createdSessionSchema, threeDsSessionSchema } from '../../../src/schema/three-ds/session.ts';
import { PRIVATE, START } from '../harness.ts';
import { MERCHANT_PAYMENT, PAYMENT, type Problem, threeDsSandbox, tokenFor } from '../three-ds/three-ds-harness.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

const HOUR = 3_600_000;
const TOKEN = tokenFor('Successful Frictionless Authentication');

it('a session is created for a card token, and answers every field of the interface', async () => {
  const on = await threeDsSandbox();
  const created = await on.created({ token_id: TOKEN, type: 'customer' });
  expect(Object.keys(created).toSorted()).toEqual(Object.keys(createdSessionSchema.shape).toSorted());
  expect(created).toMatchObject({ type: 'customer', card_brand: 'mastercard', recommended_version: '2.2.0' });
  expect(created.method_notification_url).toBe(`${on.url}/3ds/sessions/${created.id}/method-notification`);
  const session = await on.read(created.id);
  expect(session).toMatchObject({
    id: created.id,
    type: 'customer',
    token_id: TOKEN,
    card_brand: 'mastercard',
    created_date: new Date(START).toISOString(),
    expiration_date: new Date(START + HOUR).toISOString(),
    device: 'browser',
    version: { recommended_version: '2.2.0', available_version: ['2.1.0', '2.2.0'], acs_information: ['01', '02'] },
    method: { method_url: created.method_url, method_completion_indicator: 'N' },
  });
  const names = new Set(Object.keys(threeDsSessionSchema.shape));
  expect(Object.keys(session).filter((name) => !names.has(name))).toEqual([]);
  for (const name of ['authentication', 'modified_date', 'pan_token_id', 'token_intent_id'])
    expect(session).not.toHaveProperty(name);
});

it('a session says who changed it once it is authenticated', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.created({ token_id: TOKEN, type: 'customer' });
  on.clock.ms += 1000;
  await on.authenticated(id);
  const session = await on.read(id);
  expect(session.modified_date).toBe(new Date(START + 1000).toISOString());
  expect(session.modified_by).toBe(session.created_by);
  expect(session.authentication.token_id).toBe(TOKEN);
});

it('a session is created for a token intent, or by the deprecated name, and says so', async () => {
  const on = await threeDsSandbox();
  const [card] = sandboxThreeDsCards();
  const intent = await on.created({ token_intent_id: card?.token_intent, type: 'customer' });
  const read = await on.read(intent.id);
  expect(read.token_intent_id).toBe(card?.token_intent);
  expect(read).not.toHaveProperty('token_id');
  const old = await on.created({ pan: TOKEN, type: 'customer' });
  expect(await on.read(old.id)).toMatchObject({ token_id: TOKEN, pan_token_id: TOKEN });
  await on.authenticated(old.id);
  expect((await on.read(old.id)).authentication.pan_token_id).toBe(TOKEN);
});

it('a session of a merchant has the addresses of a method, and no device', async () => {
  const on = await threeDsSandbox();
  const created = await on.created({ token_id: TOKEN, type: 'merchant' });
  expect(created.method_url).toContain(`/acs/method/${created.id}/`);
  expect(created.method_notification_url).toBe(`${on.url}/3ds/sessions/${created.id}/method-notification`);
  const session = await on.read(created.id);
  expect(session.method).toEqual({ method_url: created.method_url, method_completion_indicator: 'N' });
  expect(session).not.toHaveProperty('device');
});

it.each(['customer', 'merchant'] as const)('a session of a %s keeps the device that was posted', async (type) => {
  const on = await threeDsSandbox();
  const device = { device: 'mobile', device_info: { sdk_max_timeout: '5', sdk_interface: { a: [1] } } };
  const { id } = await on.created({ token_id: TOKEN, type, ...device });
  expect(await on.read(id)).toMatchObject(device);
  const browser = { device: 'browser', device_info: { browser_tz: '-60' } };
  const body = type === 'customer' ? PAYMENT : MERCHANT_PAYMENT;
  await on.authenticated(id, { ...body, ...browser });
  const { device: kept, device_info } = await on.read(id);
  expect({ device: kept, device_info }).toEqual(browser);
});

it('a session with a decoupled challenge lives as long as its limit allows', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Challenge Authentication', 'merchant');
  await on.authenticated(id, { ...MERCHANT_PAYMENT, decoupled_challenge_max_time: 180 });
  expect((await on.read(id)).expiration_date).toBe(new Date(START + 180 * 60_000).toISOString());
  on.clock.ms += 180 * 60_000 - 1;
  expect((await on.result(id)).authentication_status).toBe('successful');
  on.clock.ms += 1;
  expect((await on.get(`/3ds/sessions/${id}`)).status).toBe(404);
});

it('a session of a card that needs no method has no address for it', async () => {
  const on = await threeDsSandbox();
  const created = await on.start('Successful Challenge Authentication - Method not Required');
  expect(created).not.toHaveProperty('method_url');
  expect(created).not.toHaveProperty('method_notification_url');
  expect((await on.read(created.id)).method).toEqual({ method_completion_indicator: 'U' });
});

it('a session is refused when its body is wrong, by field', async () => {
  const on = await threeDsSandbox();
  const token_intent_id = sandboxThreeDsCards()[0]?.token_intent;
  const bank = uuidOf(1, NAMESPACE.bank, 0);
  const cases: [unknown, string[]][] = [
    [{}, ['token_id', 'type']],
    [undefined, ['body']],
    [[], ['body']],
    ['text', ['body']],
    [{ token_id: TOKEN }, ['type']],
    [{ token_id: TOKEN, type: 'Customer' }, ['type']],
    [{ token_id: TOKEN, type: 'toString' }, ['type']],
    [{ type: 'customer' }, ['token_id']],
    [{ token_id: null, type: 'customer' }, ['token_id']],
    [{ token_id: 7, type: 'customer' }, ['token_id']],
    [{ token_id: TOKEN, token_intent_id, type: 'customer' }, ['token_id']],
    [{ token_id: TOKEN, pan: TOKEN, type: 'customer' }, ['token_id']],
    [{ token_intent_id, pan: TOKEN, type: 'customer' }, ['token_intent_id']],
    [{ token_id: token_intent_id, type: 'customer' }, ['token_id']],
    [{ token_intent_id: TOKEN, type: 'customer' }, ['token_intent_id']],
    [{ token_id: 'no-such-token', type: 'customer' }, ['token_id']],
    [{ token_id: bank, type: 'customer' }, ['token_id']],
    [{ pan: '4111111111111111', type: 'customer' }, ['pan']],
  ];
  for (const [body, fields] of cases) {
    const answer = await on.post('/3ds/sessions', body);
    const problem = (await answer.json()) as Problem;
    expect([body, answer.status, Object.keys(problem.errors ?? {}).toSorted()]).toEqual([body, 400, fields]);
    expect(JSON.stringify(problem)).not.toMatch(SHOWN_DIGITS);
  }
});

it('a session can be had for cards of the Account Updater, where the network takes part', async () => {
  const on = await threeDsSandbox();
  const cards = sandboxCards();
  const [attempted] = cards;
  const { id } = await on.created({ token_id: attempted?.token, type: 'customer' });
  expect((await on.authenticated(id)).authentication_status).toBe('attempted');
  const plain = cards.find((card) => card.result_code === 'WRN_OPT_OUT');
  const ordinary = await on.created({ token_id: plain?.token, type: 'customer' });
  expect((await on.authenticated(ordinary.id)).authentication_status).toBe('successful');
  const foreign = cards.find((card) => card.network === '');
  const answer = await on.post('/3ds/sessions', { token_id: foreign?.token, type: 'customer' });
  expect(answer.status).toBe(422);
});

it('a session expires after an hour, whatever came of it, and is then not found anywhere', async () => {
  const on = await threeDsSandbox();
  const fresh = await on.created({ token_id: TOKEN, type: 'customer' });
  const done = await on.created({ token_id: TOKEN, type: 'customer' });
  await on.authenticated(done.id);
  const statuses = async (id: string) => [
    (await on.get(`/3ds/sessions/${id}`)).status,
    (await on.get(`/3ds/sessions/${id}/challenge-result`)).status,
    (await on.authenticate(id, PAYMENT)).status,
  ];
  on.clock.ms = START + HOUR - 1;
  expect(await statuses(done.id)).toEqual([200, 200, 409]);
  on.clock.ms = START + HOUR;
  expect(await statuses(done.id)).toEqual([404, 404, 404]);
  expect(await statuses(fresh.id)).toEqual([404, 404, 404]);
  expect(await statuses('no-such-session')).toEqual([404, 404, 404]);
});

it('a session has no challenge result before it is authenticated', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.created({ token_id: TOKEN, type: 'customer' });
  const answer = await on.get(`/3ds/sessions/${id}/challenge-result`);
  expect(answer.status).toBe(404);
  expect(((await answer.json()) as Problem).detail).toMatch(/challenge result/);
});

it('a session leaves logs under its id, and nothing of the cardholder anywhere', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.created({ token_id: TOKEN, type: 'customer' });
  await on.authenticated(id);
  await on.read(id);
  const { data } = await on.json<{ data: { message: string }[] }>(`/logs?entity_type=threeds_session&entity_id=${id}`, {
    headers: { 'svc-api-key': 'sandbox-management-key' },
  });
  expect(data.map((log) => log.message)).toEqual(['3DS session read', '3DS session updated', '3DS session created']);
  const { readFileSync } = await import('node:fs');
  const journal = readFileSync(`${on.directory}/journal.jsonl`, 'utf8');
  expect(journal).toContain('3ds-authentication');
  for (const told of ['Ann Example', 'ann@example.com', '"414141"']) expect(journal).not.toContain(told);
});

it('a session needs the private key and the permission', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.created({ token_id: TOKEN, type: 'customer' });
  const readOnly = { 'svc-api-key': 'sandbox-private-key-read-only' };
  expect((await on.call(`/3ds/sessions/${id}`, { headers: readOnly })).status).toBe(200);
  expect((await on.call(`/3ds/sessions/${id}/challenge-result`, { headers: readOnly })).status).toBe(403);
  expect((await on.call(`/3ds/sessions/${id}`, { headers: PRIVATE })).status).toBe(200);
});
