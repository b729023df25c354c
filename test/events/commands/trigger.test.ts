import { afterEach, beforeEach, expect, it } from 'vitest';
import { TRIGGER_TYPES } from '../../../src/events/trigger-types.ts';
import { webhookDeliverySchema } from '../../../src/schema/account-updater.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';
import { startListener } from './support.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { until } from '../../support/until.ts';

const home = new Home();

let target: FaultServer;
beforeEach(async () => {
  target = await FaultServer.start([answer(200)]);
});
afterEach(() => target.close());

function trigger(...argv: string[]): Promise<HereResult> {
  return svcHere(['events', 'trigger', ...argv, '--forward-to', target.url.href]);
}

function sent(): Record<string, unknown> {
  return JSON.parse(target.whole('POST')[0]?.body ?? 'null') as Record<string, unknown>;
}

it.each([
  ['account-updater.job.completed', { job: { id: expect.any(String), status: 'completed' } }],
  ['account-updater.job.failed', { job: { id: expect.any(String), status: 'failed' } }],
  ['account-updater.job.created', { job: { id: expect.any(String), status: 'pending' } }],
  ['3ds.session.authenticated', { session: { id: expect.any(String) } }],
  ['tenant.updated', { tenant: { id: expect.any(String) } }],
])('svc events trigger sends %s in the shape of the interface', async (type, data) => {
  const { code, stdout } = await trigger(type);
  expect(code).toBe(0);
  expect(webhookDeliverySchema.safeParse(sent()).success).toBe(true);
  expect(sent()).toMatchObject({
    event: { type, data, timestamp: expect.stringMatching(/Z$/), tenant_id: expect.any(String) },
    delivered_at: expect.stringMatching(/Z$/),
  });
  expect(JSON.parse(stdout)).toMatchObject({ ...sent(), status: 200 });
  expect(target.whole('POST')[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
});

it.each([
  ['--set', 'data.job.id=4111111111111111'],
  ['--set-json', 'data.cards=["4111 1111 1111 1111"]'],
  ['--set-json', 'data.card=4111111111111111'],
])('R40: svc events trigger sends no card number that %s contains', async (option, assignment) => {
  const run = await trigger('account-updater.job.completed', option, assignment);
  expect([run.code, target.whole('POST')]).toEqual([13, []]);
  expect(run.stdout + run.stderr).not.toMatch(SHOWN_DIGITS);
});

it('svc events trigger puts values in, of the event or of the whole body', async () => {
  await trigger(
    'account-updater.job.completed',
    '--set',
    'data.job.id=j=7',
    '--set',
    'event.id=e7',
    '--set',
    'delivered_at=2020-01-01T00:00:00Z',
    '--set-json',
    'data.more=[1]',
  );
  expect(sent()).toMatchObject({
    event: { id: 'e7', data: { job: { id: 'j=7', status: 'completed' }, more: [1] } },
    delivered_at: '2020-01-01T00:00:00Z',
  });
});

it('svc events trigger reaches a listener', async () => {
  const listener = await startListener(home, ['--max', '1']);
  const { code } = await svcHere([
    'events',
    'trigger',
    'account-updater.job.completed',
    '--forward-to',
    listener.url,
    '--set',
    'data.job.id=j7',
  ]);
  expect(code).toBe(0);
  expect(await listener.ended).toMatchObject({ code: 0 });
  await until(() => listener.rows().length === 1);
  expect(listener.rows()[0]).toMatchObject({ event: { data: { job: { id: 'j7' } } }, repeated: false });
});

it.each([
  ['account-updater.job.complete', 'account-updater.job.completed'],
  ['tenant.updatd', 'tenant.updated'],
  ['3ds.session.autenticated', '3ds.session.authenticated'],
])('svc events trigger means a known type: %s is not sent', async (typed, meant) => {
  const { code, stderr } = await trigger(typed);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ hint: expect.stringContaining(`Did you mean '${meant}'?`) });
  expect(target.ledger).toEqual([]);
});

it('svc events trigger sends any type with --type, with empty data unless values are put in', async () => {
  expect((await trigger('--type', 'network-token.2026.renewed')).code).toBe(0);
  expect(sent()).toMatchObject({ event: { type: 'network-token.2026.renewed', data: {} } });
});

it('svc events trigger puts values into an event of any type', async () => {
  await trigger('--type', 'card.expired', '--set', 'data.card.id=c7');
  expect(sent()).toMatchObject({ event: { type: 'card.expired', data: { card: { id: 'c7' } } } });
});

it('svc events trigger refuses a number that it would send as another', async () => {
  const { code, stderr } = await trigger('--type', 'a.b', '--set-json', 'data.n={"id":[12345678901234567890]}');
  expect([code, stderr]).toEqual([13, expect.stringContaining('a number that is too large to be sent exactly')]);
  expect(target.connections).toBe(0);
});

it('svc events trigger names an unknown type as it was typed, digits included', async () => {
  const { code, stderr } = await trigger('network-token.2026.renewed');
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    message: 'there is no sample event of type "network-token.2026.renewed"',
    hint: expect.stringContaining('can be sent with --type'),
  });
});

it.each([
  [[], 'the type of the event is missing'],
  [['tenant.updated', '--type', 'card.expired'], 'two types were given'],
  [['--type', 'canary'], 'not an event type'],
  [['canary key'], 'not an event type'],
])('svc events trigger %j ends with 2 before anything is sent', async (words, message) => {
  const { code, stderr } = await trigger(...words);
  expect([code, JSON.parse(stderr)]).toEqual([2, expect.objectContaining({ code: 'usage' })]);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('canary');
  expect(target.ledger).toEqual([]);
});

it('TAB offers every type of event that the interface names, and those that were seen', async () => {
  const { stdout } = await svcHere(['__complete', 'fish', 'events', 'trigger', '']);
  for (const type of TRIGGER_TYPES) expect(stdout).toContain(type);
});

it.each([
  [answer(422), 6],
  [answer(500), 8],
  [answer(302, '', { location: '/' }), 6],
])('svc events trigger ends with the code that fits the answer', async (step, expected) => {
  target.play([step]);
  expect((await trigger('tenant.updated')).code).toBe(expected);
  expect(target.whole('POST')).toHaveLength(1);
});

it('svc events trigger says how to start a listener when there is none', async () => {
  const gone = target.url.href;
  await target.close();
  const { code, stderr } = await svcHere(['events', 'trigger', 'tenant.updated', '--forward-to', gone]);
  expect(code).toBe(8);
  expect(JSON.parse(stderr)).toMatchObject({ next: 'svc events listen' });
  target = await FaultServer.start([answer(200)]);
});
