import { expect, it } from 'vitest';
import { MERCHANT, PAYMENT, type Problem, PURCHASE, threeDsSandbox } from './three-ds-harness.ts';

it('R57: the fields are refused by path, all at once, with what they must be', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Frictionless Authentication');
  const answer = await on.authenticate(id, {
    ...PAYMENT,
    authentication_type: 'top-up',
    challenge_preference: 'always',
    request_decoupled_challenge: 'true',
    purchase_info: { ...PURCHASE, amount: '10.00', currency: 'USX', date: '20260230120000' },
    merchant_info: { ...MERCHANT, mid: undefined, country_code: 'US', risk_info: { shipping_method: 'by-hand' } },
    cardholder_info: { name: 'Ann', email: '', account_info: { account_age: 'old' } },
    message_extensions: [{ critical: 'yes' }],
  });
  expect(answer.status).toBe(400);
  const { errors = {} } = (await answer.json()) as Problem;
  expect(Object.keys(errors).toSorted()).toEqual([
    'authentication_type',
    'cardholder_info.account_info.account_age',
    'cardholder_info.email',
    'challenge_preference',
    'merchant_info.country_code',
    'merchant_info.mid',
    'merchant_info.risk_info.shipping_method',
    'message_extensions.0.critical',
    'purchase_info.amount',
    'purchase_info.currency',
    'purchase_info.date',
    'request_decoupled_challenge',
  ]);
  expect(errors['authentication_type']).toEqual(['Is not allowed for sessions of type customer.']);
  expect(errors['merchant_info.mid']).toEqual(['Is required when authentication_category is payment.']);
  expect(errors['purchase_info.amount']?.[0]).toMatch(/^Must be .*digits without punctuation\.$/);
  expect(errors['challenge_preference']?.[0]).toContain('no-challenge-strong-consumer-auth');
  expect(errors['message_extensions.0.critical']).toEqual(['Must be true or false.']);
  expect(JSON.stringify(errors)).not.toContain('10.00');
});

it('the fields that the interface does not have are let pass', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Frictionless Authentication');
  const extra = { ...PAYMENT, more: 1, purchase_info: { ...PURCHASE, more: { deep: [] } } };
  expect((await on.authenticate(id, extra)).status).toBe(200);
});

it('the fields that are no objects or lists are told to be', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Frictionless Authentication');
  const answer = await on.authenticate(id, {
    ...PAYMENT,
    purchase_info: 'x',
    broadcast_info: [],
    message_extensions: {},
    cardholder_info: { ...PAYMENT.cardholder_info, billing_address: null },
    decoupled_challenge_max_time: 0,
  });
  const { errors = {} } = (await answer.json()) as Problem;
  expect(errors).toMatchObject({
    purchase_info: ['Must be an object.'],
    broadcast_info: ['Must be an object.'],
    message_extensions: ['Must be an array.'],
    'cardholder_info.billing_address': ['Must be an object.'],
    decoupled_challenge_max_time: [expect.stringMatching(/^Must be the minutes .* more than 0\.$/)],
  });
});

it('the fields that are too many items to check are refused in a short response', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Frictionless Authentication');
  const answer = await on.authenticate(id, { message_extensions: Array.from({ length: 400_000 }, () => 1) });
  const { errors } = (await answer.json()) as Problem;
  expect([answer.status, errors]).toEqual([400, { message_extensions: ['Must have at most 1000 items.'] }]);
});

it('the fields are read from an object only', async () => {
  const on = await threeDsSandbox();
  const { id } = await on.start('Successful Frictionless Authentication');
  for (const body of [[], 'text', 1, null, true]) {
    const answer = await on.authenticate(id, body);
    expect([body, answer.status]).toEqual([body, 400]);
  }
  const deep = `{"broadcast_info":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  for (const text of ['{', '', '"\u0000', deep, '{"__proto__":{"x":1}}']) {
    const answer = await on.call(`/3ds/sessions/${id}/authenticate`, {
      method: 'POST',
      headers: { 'svc-api-key': 'sandbox-private-key' },
      body: text,
    });
    expect([text.slice(0, 20), answer.status]).toEqual([text.slice(0, 20), 400]);
  }
  expect((await on.authenticate(id, { ...PAYMENT, more: 'x'.repeat(1_100_000) })).status).toBe(413);
  expect((await on.authenticated(id)).authentication_status).toBe('successful');
});
