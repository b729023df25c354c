import { describe, expect, it } from 'vitest';
import { brokenConditions } from '../../../src/emulator/three-ds/authenticate.ts';
import { SESSIONS_OF } from '../../support/interface.ts';
import { MERCHANT, MERCHANT_PAYMENT, PAYMENT, type Problem, PURCHASE, threeDsSandbox } from './three-ds-harness.ts';

const FULL_PURCHASE = {
  ...PURCHASE,
  installment_count: '12',
  recurring_expiration: '20301231',
  recurring_frequency: '28',
};

/** A body without what only payments need. */
const NON_PAYMENT = {
  authentication_category: 'non-payment',
  authentication_type: 'add-card',
  requestor_info: PAYMENT.requestor_info,
  cardholder_info: PAYMENT.cardholder_info,
};

type Body = Record<string, unknown>;

const without = (part: Body, name: string): Body =>
  Object.fromEntries(Object.entries(part).filter(([key]) => key !== name));

/** Sends each body to a session of the given type, and returns the paths that break a rule. */
async function refusals(bodies: readonly (readonly [Body, 'customer' | 'merchant'])[]): Promise<string[][]> {
  const on = await threeDsSandbox();
  const found: string[][] = [];
  for (const [body, type] of bodies) {
    const { id } = await on.start('Successful Frictionless Authentication', type);
    const answer = await on.authenticate(id, body);
    expect([200, 400]).toContain(answer.status);
    const { errors } = (await answer.json()) as Problem;
    for (const message of Object.values(errors ?? {}).flat()) expect(message).toMatch(/^(Is|Must) .+\.$/);
    found.push(Object.keys(errors ?? {}).toSorted());
  }
  return found;
}

describe('the rules between fields', () => {
  it.each(Object.entries(SESSIONS_OF))('R57: %s goes with its session types and no other', async (type, allowed) => {
    const body = { ...NON_PAYMENT, authentication_type: type, purchase_info: FULL_PURCHASE };
    const [customer, merchant] = await refusals([
      [body, 'customer'],
      [{ ...body, decoupled_challenge_max_time: 5 }, 'merchant'],
    ]);
    const refused = (kind: 'customer' | 'merchant') => (allowed.includes(kind) ? [] : ['authentication_type']);
    expect({ customer, merchant }).toEqual({ customer: refused('customer'), merchant: refused('merchant') });
  });

  it('R57: a decoupled challenge and every merchant session need a time limit', async () => {
    const asked = { ...PAYMENT, request_decoupled_challenge: true };
    const merchant = without(MERCHANT_PAYMENT, 'decoupled_challenge_max_time');
    expect(
      await refusals([
        [asked, 'customer'],
        [{ ...asked, decoupled_challenge_max_time: 5 }, 'customer'],
        [{ ...PAYMENT, request_decoupled_challenge: false }, 'customer'],
        [PAYMENT, 'customer'],
        [merchant, 'merchant'],
        [{ ...merchant, request_decoupled_challenge: false }, 'merchant'],
        [MERCHANT_PAYMENT, 'merchant'],
      ]),
    ).toEqual([
      ['decoupled_challenge_max_time'],
      [],
      [],
      [],
      ['decoupled_challenge_max_time'],
      ['decoupled_challenge_max_time'],
      [],
    ]);
  });

  it.each(['amount', 'currency', 'exponent', 'date', 'transaction_type'])(
    'R57: a payment needs purchase_info.%s',
    async (name) => {
      const [missing, present] = await refusals([
        [{ ...PAYMENT, purchase_info: without(PURCHASE, name) }, 'customer'],
        [PAYMENT, 'customer'],
      ]);
      expect({ missing, present }).toEqual({ missing: [`purchase_info.${name}`], present: [] });
    },
  );

  it.each(['mid', 'acquirer_bin', 'name', 'country_code', 'category_code'])(
    'R57: a payment needs merchant_info.%s, and nothing else does',
    async (name) => {
      const merchant_info = without(MERCHANT, name);
      const [payment, other] = await refusals([
        [{ ...PAYMENT, merchant_info }, 'customer'],
        [{ ...NON_PAYMENT, merchant_info }, 'customer'],
      ]);
      expect({ payment, other }).toEqual({ payment: [`merchant_info.${name}`], other: [] });
    },
  );

  it('R57: purchase and merchant are needed as wholes too', async () => {
    expect(
      await refusals([
        [without(PAYMENT, 'purchase_info'), 'customer'],
        [without(PAYMENT, 'merchant_info'), 'customer'],
        [NON_PAYMENT, 'customer'],
        [{ ...NON_PAYMENT, authentication_type: 'recurring-transaction' }, 'customer'],
        [{ ...NON_PAYMENT, authentication_type: 'installment-transaction' }, 'customer'],
      ]),
    ).toEqual([['purchase_info'], ['merchant_info'], [], ['purchase_info'], ['purchase_info']]);
  });

  it.each([
    ['recurring-transaction', ['recurring_expiration', 'recurring_frequency']],
    ['installment-transaction', ['installment_count']],
  ] as const)('R57: %s needs its own members, in either category', async (type, names) => {
    const needed = ['amount', 'currency', 'date', 'exponent', ...names];
    const whole = { ...NON_PAYMENT, authentication_type: type, purchase_info: FULL_PURCHASE };
    const cases = needed.map((name) => ({ ...whole, purchase_info: without(FULL_PURCHASE, name) }));
    const found = await refusals(
      [whole, { ...whole, purchase_info: without(FULL_PURCHASE, 'transaction_type') }, ...cases].map(
        (body) => [body, 'customer'] as const,
      ),
    );
    expect(found).toEqual([[], [], ...needed.map((name) => [`purchase_info.${name}`])]);
  });

  it('R57: requestor and cardholder are always needed, with these members', async () => {
    const { requestor_info, cardholder_info } = PAYMENT;
    const requestor = (part: Body): Body => ({ ...NON_PAYMENT, requestor_info: part });
    const cardholder = (part: Body): Body => ({ ...NON_PAYMENT, cardholder_info: part });
    const bodies: Body[] = [
      without(NON_PAYMENT, 'requestor_info'),
      without(NON_PAYMENT, 'cardholder_info'),
      without(NON_PAYMENT, 'authentication_category'),
      without(NON_PAYMENT, 'authentication_type'),
      ...['id', 'name', 'url'].map((name) => requestor(without(requestor_info, name))),
      ...['name', 'email'].map((name) => cardholder(without(cardholder_info, name))),
    ];
    expect((await refusals(bodies.map((body) => [body, 'customer']))).flat()).toEqual([
      'requestor_info',
      'cardholder_info',
      'authentication_category',
      'authentication_type',
      'requestor_info.id',
      'requestor_info.name',
      'requestor_info.url',
      'cardholder_info.name',
      'cardholder_info.email',
    ]);
  });

  it('the rules between fields do not take inherited names for members or types', () => {
    const body = {
      authentication_category: 'constructor',
      authentication_type: 'toString',
      request_decoupled_challenge: 1,
    };
    expect(brokenConditions(body, 'customer')).toEqual([]);
  });
});

describe('the fields', () => {
  it('R57: the fields are refused by path, all at once, with what they must be', async () => {
    const on = await threeDsSandbox();
    const { id } = await on.start('Successful Frictionless Authentication');
    const answer = await on.authenticate(id, {
      ...PAYMENT,
      authentication_type: 'top-up',
      challenge_preference: 'always',
      request_decoupled_challenge: 'true',
      purchase_info: { ...PURCHASE, amount: '10.00', currency: 'USX', date: '20260230120000' },
      merchant_info: { ...MERCHANT, country_code: 'US', risk_info: { shipping_method: 'by-hand' } },
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
      'merchant_info.risk_info.shipping_method',
      'message_extensions.0.critical',
      'purchase_info.amount',
      'purchase_info.currency',
      'purchase_info.date',
      'request_decoupled_challenge',
    ]);
    expect(errors['authentication_type']).toEqual(['Is not allowed for sessions of type customer.']);
    expect(errors['purchase_info.amount']?.[0]).toMatch(/^Must be .*digits without punctuation\.$/);
    expect(errors['challenge_preference']?.[0]).toContain('no-challenge-strong-consumer-auth');
    expect(errors['message_extensions.0.critical']).toEqual(['Must be true or false.']);
    expect(JSON.stringify(errors)).not.toContain('10.00');
  });

  it('the fields that the interface does not have are let pass', async () => {
    const extra = { ...PAYMENT, more: 1, purchase_info: { ...PURCHASE, more: { deep: [] } } };
    expect(await refusals([[extra, 'customer']])).toEqual([[]]);
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
});
