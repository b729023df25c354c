import { expect, it } from 'vitest';
import { type ScenarioName, SCENARIOS, THREE_DS_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { authenticationResultSchema } from '../../../src/schema/three-ds/session.ts';
import { PRIVATE } from '../harness.ts';
import { MERCHANT_PAYMENT, PAYMENT, postForm, type Problem, threeDsSandbox, tokenFor } from './three-ds-harness.ts';

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const VALUE = /^[A-Za-z0-9+/]{27}=$/;

/** Scenarios without a challenge, and their outcomes: status, code, reason, and whether a value proves it. */
const FRICTIONLESS: readonly [ScenarioName, string, string, string | undefined, boolean][] = [
  ['Successful Frictionless Authentication', 'successful', 'Y', undefined, true],
  ['Authentication Attempted', 'attempted', 'A', undefined, true],
  ['Authentication Failed', 'failed', 'N', 'card-authentication-failed', false],
  ['Authentication Unavailable', 'unavailable', 'U', 'acs-technical-issue', false],
  ['Authentication Rejected', 'rejected', 'R', 'suspected-fraud', false],
];

/** Scenarios with a challenge: its kind, and the status, code and reason after the cardholder's correct answer. */
const CHALLENGED: readonly [ScenarioName, string, string, string, string | undefined][] = [
  ['Successful Challenge Authentication', 'dynamic', 'successful', 'Y', undefined],
  ['Successful Challenge Authentication - Method not Required', 'dynamic', 'successful', 'Y', undefined],
  ['Successful Mandated Challenge Authentication', 'dynamic', 'successful', 'Y', undefined],
  ['Successful Out-of-Band Challenge Authentication', 'out-of-band', 'successful', 'Y', undefined],
  ['Attempted Challenge Authentication', 'dynamic', 'attempted', 'A', undefined],
  ['Failed Challenge Authentication', 'dynamic', 'failed', 'N', 'card-authentication-failed'],
  ['Failed Out of Band Challenge Authentication', 'out-of-band', 'failed', 'N', 'card-authentication-failed'],
  ['Unavailable Challenge Authentication', 'dynamic', 'unavailable', 'U', 'acs-technical-issue'],
  ['Rejected Challenge Authentication', 'dynamic', 'rejected', 'R', 'suspected-fraud'],
];

const ERRORS: readonly [ScenarioName, number, RegExp][] = [
  ['3DS Directory Server Error', 424, /new session/],
  ['Internal 3DS Server Error', 500, /3DS server/],
];

it('the scenarios of the test cards are all tested below', () => {
  const tested = [...FRICTIONLESS, ...CHALLENGED, ...ERRORS].map(([scenario]) => scenario);
  expect(tested.toSorted()).toEqual(Object.keys(SCENARIOS).toSorted());
  expect(new Set(THREE_DS_CARDS.map((card) => card.scenario))).toEqual(new Set(tested));
  expect(THREE_DS_CARDS).toHaveLength(42);
});

it.each(FRICTIONLESS)(
  'the scenarios of the test cards without a challenge: %s',
  async (scenario, status, code, reason, proven) => {
    const on = await threeDsSandbox();
    const { id } = await on.start(scenario);
    const result = await on.authenticated(id);
    expect(result).toMatchObject({ authentication_status: status, threeds_version: '2.2.0' });
    expect(VALUE.test(result.authentication_value ?? '')).toBe(proven);
    expect('authentication_value' in result).toBe(proven);
    expect(Object.keys(result).every((name) => name in authenticationResultSchema.shape)).toBe(true);
    const { authentication } = await on.read(id);
    expect(authentication).toMatchObject({ ...result, authentication_status_code: code, acs_challenge_mandated: 'N' });
    expect(authentication.authentication_status_reason).toBe(reason);
    expect(authentication.cardholder_info !== undefined).toBe(status === 'failed' || status === 'rejected');
    const later = await on.result(id);
    expect(later).toMatchObject(result);
    for (const name of ['authentication_challenge_type', 'acs_challenge_url', 'challenge_attempts'])
      expect(later).not.toHaveProperty(name);
  },
);

it.each(CHALLENGED)(
  'the scenarios of the test cards with a challenge: %s',
  async (scenario, kind, status, code, reason) => {
    const on = await threeDsSandbox();
    const { id } = await on.start(scenario);
    const first = await on.authenticated(id);
    expect(first.authentication_status).toBe('challenge');
    for (const name of ['eci', 'authentication_value', 'acs_challenge_url']) expect(first).not.toHaveProperty(name);
    const open = await on.result(id);
    expect(open).toMatchObject({
      authentication_status: 'challenge',
      authentication_challenge_type: kind,
      challenge_attempts: '0',
      acs_challenge_mandated: scenario.includes('Mandated') ? 'Y' : 'N',
      message_extensions: [],
    });
    expect((await on.read(id)).authentication.authentication_status_code).toBe('C');
    const right = kind === 'dynamic' ? { answer: 'code', code: '123456' } : { answer: 'approve' };
    expect((await postForm(open.acs_challenge_url ?? '', right)).status).toBe(303);
    const done = await on.result(id);
    expect(done).toMatchObject({
      authentication_status: status,
      authentication_challenge_type: kind,
      challenge_attempts: '1',
      acs_transaction_id: first.acs_transaction_id,
      eci: { successful: '05', attempted: '06' }[status] ?? '07',
    });
    expect(done.authentication_value !== undefined).toBe(status === 'successful' || status === 'attempted');
    const { authentication } = await on.read(id);
    expect(authentication.authentication_status_code).toBe(code);
    expect(authentication.authentication_status_reason).toBe(reason);
  },
);

it.each(ERRORS)('the scenarios of the test cards that end in an error: %s', async (scenario, status, words) => {
  const on = await threeDsSandbox();
  const { id } = await on.start(scenario);
  for (let time = 0; time < 2; time += 1) {
    const answer = await on.authenticate(id, PAYMENT);
    expect(answer.status).toBe(status);
    const problem = (await answer.json()) as Problem;
    expect(problem).toMatchObject({ status });
    expect(problem.detail).toMatch(words);
  }
  expect(await on.read(id)).not.toHaveProperty('authentication');
  expect((await on.get(`/3ds/sessions/${id}/challenge-result`)).status).toBe(404);
});

it('an outcome carries ids and a value that are the same at every look, and of no other session', async () => {
  const on = await threeDsSandbox();
  const token = { token_id: tokenFor('Successful Frictionless Authentication'), type: 'customer' };
  const results = [];
  for (let count = 0; count < 3; count += 1) {
    const { id } = await on.created(token);
    const result = await on.authenticated(id);
    on.clock.ms += 60_000;
    expect(await on.result(id)).toMatchObject(result);
    expect(result.acs_transaction_id).toMatch(GUID);
    expect(result.ds_transaction_id).toMatch(GUID);
    expect(Buffer.from(result.authentication_value ?? '', 'base64')).toHaveLength(20);
    results.push(result.acs_transaction_id, result.ds_transaction_id, result.authentication_value);
  }
  expect(new Set(results).size).toBe(9);
});

it('an outcome is for information only where data sharing alone was wished for', async () => {
  const on = await threeDsSandbox();
  for (const [network, eci] of [
    ['visa', '07'],
    ['mastercard', '04'],
  ] as const) {
    const { id } = await on.start('Successful Frictionless Authentication', 'customer', network);
    const body = { ...PAYMENT, challenge_preference: 'no-challenge-data-sharing-only' };
    const result = await on.authenticated(id, body);
    expect(result).toMatchObject({ authentication_status: 'informational', eci });
    expect(result).not.toHaveProperty('authentication_value');
    expect((await on.read(id)).authentication).toMatchObject({
      authentication_status_code: 'I',
      challenge_preference: 'no-challenge-data-sharing-only',
      challenge_preference_code: '06',
    });
  }
});

it('an outcome comes later where a decoupled challenge was requested', async () => {
  const on = await threeDsSandbox();
  for (const [scenario, , status] of CHALLENGED.map(([name, , ends]) => [name, '', ends] as const)) {
    const { id } = await on.start(scenario);
    const body = { ...PAYMENT, request_decoupled_challenge: true, decoupled_challenge_max_time: 5 };
    expect((await on.authenticated(id, body)).authentication_status).toBe('decoupled_challenge');
    expect(await on.result(id)).toMatchObject({
      authentication_status: 'decoupled_challenge',
      authentication_challenge_type: 'decoupled',
      challenge_attempts: '0',
    });
    expect((await on.read(id)).authentication.authentication_status_code).toBe('D');
    on.clock.ms += 4999;
    expect((await on.result(id)).authentication_status).toBe('decoupled_challenge');
    on.clock.ms += 1;
    const done = await on.result(id);
    expect([scenario, done.authentication_status, done.challenge_attempts]).toEqual([scenario, status, '1']);
    expect(done).not.toHaveProperty('acs_challenge_url');
  }
});

it('an outcome needs no cardholder in a session of a merchant', async () => {
  const on = await threeDsSandbox();
  const plain = await on.start('Successful Frictionless Authentication', 'merchant');
  expect((await on.authenticated(plain.id, MERCHANT_PAYMENT)).authentication_status).toBe('successful');
  const decoupled = await on.start('Successful Challenge Authentication', 'merchant');
  expect((await on.authenticated(decoupled.id, MERCHANT_PAYMENT)).authentication_status).toBe('decoupled_challenge');
  on.clock.ms += 5000;
  expect((await on.result(decoupled.id)).authentication_status).toBe('successful');
  const refused = await on.start('Successful Challenge Authentication', 'merchant');
  const body = { ...MERCHANT_PAYMENT, request_decoupled_challenge: false };
  expect((await on.authenticated(refused.id, body)).authentication_status).toBe('failed');
  expect((await on.read(refused.id)).authentication.authentication_status_reason).toBe(
    'decoupled-authentication-required',
  );
});

it('an outcome tells whether the cardholder trusts the merchant when that is asked', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Frictionless Authentication', 'merchant');
  await on.authenticated(id, { ...MERCHANT_PAYMENT, authentication_type: 'whitelist-status-check' });
  expect((await on.read(id)).authentication).toMatchObject({
    whitelist_status: 'merchant-not-trusted',
    whitelist_status_source: 'acs',
  });
});

it('an outcome is there once: a second authentication is a conflict and changes nothing', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Authentication Rejected');
  const first = await on.authenticated(id);
  const again = await on.authenticate(id, PAYMENT);
  expect(again.status).toBe(409);
  expect(await on.result(id)).toMatchObject(first);
});

it('an outcome survives a restart of the sandbox on the same directory', async () => {
  const on = await threeDsSandbox();
  const { id, page } = await on.challenged('Successful Challenge Authentication');
  await on.close();
  const next = await threeDsSandbox({ directory: on.directory });
  const moved = page.replace(on.url, next.url);
  expect((await postForm(moved, { answer: 'code', code: '123456' })).status).toBe(303);
  expect((await next.result(id)).authentication_status).toBe('successful');
  expect((await next.call(`/3ds/sessions/${id}`, { headers: PRIVATE })).status).toBe(200);
});
