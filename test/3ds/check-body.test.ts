import { describe, expect, it } from 'vitest';
import { checkBody } from '../../src/3ds/check-body.ts';
import { changed, fullBody } from './bodies.ts';
import { SHOWN_DIGITS } from '../support/card-numbers.ts';

const DAY = {
  right: ['20260131', '20240229', '19991231'],
  wrong: ['20260230', '20250229', '2026-01-31', '260131', '20261301', '', '202601310'],
};
const MINUTE = {
  right: ['202601310930', '202601312359'],
  wrong: ['20260131', '202601312400', '202601310960', '20260131093000', '202602300930'],
};
const DIGITS = { right: ['0', '7', '1000000'], wrong: ['', '10.00', '1,000', '-1', '1e3', ' 1', '١٢', '1\n'] };
const CODE = { right: ['840', '036', '978'], wrong: ['36', 'USD', '0840', '', 'US'] };
const FLAG = { right: [true, false], wrong: ['true', 'Y', 1, null] };
const CHANGES = ['less-than-30-days', '30-to-60-days', 'more-than-60-days'];
const AGES = ['no-account', 'created-this-transaction', ...CHANGES];
const TEXT = { right: ['x', 'Ünï', ''], wrong: [1, true, null, {}, ['x']] };
const FILLED = { right: ['x'], wrong: ['', 1, null] };

function oneOf(...right: readonly string[]): { right: readonly unknown[]; wrong: readonly unknown[] } {
  return {
    right,
    wrong: ['', 'other-value', right[0]?.toUpperCase() === right[0] ? 'y' : right[0]?.toUpperCase(), 1, null],
  };
}

const ADDRESS = {
  line1: TEXT,
  line2: TEXT,
  line3: TEXT,
  postal_code: TEXT,
  city: TEXT,
  state_code: { right: ['CA', 'US-CA', '13', 'BY'], wrong: ['California', 'ca', 'USA-CA', 'CA-', ''] },
  country_code: CODE,
};
const PHONE = { country_code: TEXT, number: TEXT };

/** Every field of the interface with values on both sides of its rule. */
const FIELDS: Readonly<Record<string, { right: readonly unknown[]; wrong: readonly unknown[] }>> = {
  authentication_category: oneOf('payment', 'non-payment'),
  request_decoupled_challenge: FLAG,
  decoupled_challenge_max_time: { right: [1, 1.5, 60, 10080], wrong: ['60', 0, -5, null, true] },
  challenge_preference: oneOf(
    'no-preference',
    'no-challenge',
    'challenge-requested',
    'challenge-mandated',
    'no-challenge-risk-analysis-performed',
    'no-challenge-data-sharing-only',
    'no-challenge-strong-consumer-auth',
    'no-challenge-whitelist-exemption',
    'challenge-requested-whitelist-prompt',
    'cartes-bancaires',
  ),
  'purchase_info.amount': DIGITS,
  'purchase_info.currency': { right: ['840', 'USD', 'EUR'], wrong: ['36', 'USX', 'usd', '0840', '', 'US'] },
  'purchase_info.exponent': { right: ['0', '2', '3', '4'], wrong: ['', '5', '02', 2, '-1'] },
  'purchase_info.date': {
    right: ['20260131093000', '20240229235959'],
    wrong: ['20260131', '20260230093000', '20260131240000', '20260131096000', '2026-01-31T09:30:00Z', 20260131093000],
  },
  'purchase_info.transaction_type': oneOf(
    'purchase',
    'check-acceptance',
    'account-funding',
    'quasi-cash',
    'prepaid-activation-load',
  ),
  'purchase_info.installment_count': DIGITS,
  'purchase_info.recurring_expiration': DAY,
  'purchase_info.recurring_frequency': DIGITS,
  'merchant_info.mid': FILLED,
  'merchant_info.acquirer_bin': FILLED,
  'merchant_info.name': FILLED,
  'merchant_info.country_code': CODE,
  'merchant_info.category_code': FILLED,
  'merchant_info.risk_info.delivery_email': TEXT,
  'merchant_info.risk_info.delivery_time_frame': oneOf(
    'electronic-delivery',
    'same-day-shipping',
    'overnight-shipping',
    'two-or-more-day-shipping',
  ),
  'merchant_info.risk_info.gift_card_amount': DIGITS,
  'merchant_info.risk_info.gift_card_count': DIGITS,
  'merchant_info.risk_info.gift_card_currency': CODE,
  'merchant_info.risk_info.pre_order_purchase': FLAG,
  'merchant_info.risk_info.pre_order_date': DAY,
  'merchant_info.risk_info.reordered_purchase': FLAG,
  'merchant_info.risk_info.shipping_method': oneOf(
    'ship-to-billing-address',
    'ship-to-verified-address',
    'ship-to-different-address',
    'ship-to-store',
    'digital-goods',
    'travel-and-event-tickets',
    'other',
  ),
  'requestor_info.id': FILLED,
  'requestor_info.name': FILLED,
  'requestor_info.url': {
    right: ['https://shop.example', 'http://shop.example/a?b=c'],
    wrong: ['shop.example', 'ftp://shop.example', 'https://', '', 1],
  },
  'cardholder_info.account_id': TEXT,
  'cardholder_info.account_type': oneOf('debit', 'credit'),
  'cardholder_info.name': FILLED,
  'cardholder_info.email': FILLED,
  'cardholder_info.billing_shipping_address_match': oneOf('Y', 'N'),
  'cardholder_info.account_info.account_age': oneOf(...AGES),
  'cardholder_info.account_info.account_last_changed': oneOf('changed-this-transaction', ...CHANGES),
  'cardholder_info.account_info.account_change_date': DAY,
  'cardholder_info.account_info.account_created_date': {
    right: ['20240517', '202405171'],
    wrong: ['20240230', '2024-05-17', '2024051711', ''],
  },
  'cardholder_info.account_info.account_pwd_last_changed': oneOf('no-change', 'changed-this-transaction', ...CHANGES),
  'cardholder_info.account_info.account_pwd_change_date': DAY,
  'cardholder_info.account_info.purchase_count_half_year': DIGITS,
  'cardholder_info.account_info.transaction_count_day': DIGITS,
  'cardholder_info.account_info.payment_account_age': DAY,
  'cardholder_info.account_info.transaction_count_year': DIGITS,
  'cardholder_info.account_info.payment_account_created': oneOf(...AGES),
  'cardholder_info.account_info.shipping_address_first_used': oneOf('this-transaction', ...CHANGES),
  'cardholder_info.account_info.shipping_address_usage_date': DAY,
  'cardholder_info.account_info.shipping_account_name_match': FLAG,
  'cardholder_info.account_info.suspicious_activity_observed': FLAG,
  'cardholder_info.authentication_info.method': oneOf(
    'no-login',
    'username-password',
    'federated-id',
    'issuer-credentials',
    'third-party',
    'fido',
    'fido-data-signed',
    'src-assurance-data',
  ),
  'cardholder_info.authentication_info.timestamp': MINUTE,
  'cardholder_info.authentication_info.data': TEXT,
  'cardholder_info.prior_authentication_info.method': oneOf('frictionless', 'challenged', 'avs-verified', 'other'),
  'cardholder_info.prior_authentication_info.timestamp': MINUTE,
  'cardholder_info.prior_authentication_info.reference_id': TEXT,
  'cardholder_info.prior_authentication_info.data': TEXT,
  ...below('cardholder_info.phone_number', PHONE),
  ...below('cardholder_info.mobile_phone_number', PHONE),
  ...below('cardholder_info.work_phone_number', PHONE),
  ...below('cardholder_info.billing_address', ADDRESS),
  ...below('cardholder_info.shipping_address', ADDRESS),
  broadcast_info: { right: [{}, { any: { thing: [1, null] } }], wrong: ['x', [], null, 3] },
  message_extensions: {
    right: [[], [{ id: '1', name: 'n', critical: false, data: 'd' }], [{}]],
    wrong: [{}, 'x', null],
  },
};

function below<T>(path: string, fields: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${path}.${name}`, field]));
}

function errorFor(body: unknown): string[] {
  return checkBody(body, 'customer').map(({ path }) => path);
}

describe('types, values and formats', () => {
  it.each(Object.entries(FIELDS))('R57: %s', (path, { right, wrong }) => {
    for (const value of right) expect(errorFor(changed(fullBody(), path, value)), JSON.stringify(value)).toEqual([]);
    for (const value of wrong) {
      const violations = checkBody(changed(fullBody(), path, value), 'customer');
      expect(
        violations.map((violation) => violation.path),
        JSON.stringify(value),
      ).toEqual([path]);
      expect(violations[0]?.message).toMatch(/^must /);
      expect(errorFor(changed(fullBody(), path, violations[0]?.example)), 'its own example').toEqual([]);
    }
  });

  it.each(['id', 'name', 'critical', 'data'])('R57: message_extensions.0.%s', (name) => {
    const right = name === 'critical' ? true : 'x';
    expect(errorFor(changed(fullBody(), 'message_extensions', [{ [name]: right }]))).toEqual([]);
    expect(errorFor(changed(fullBody(), 'message_extensions', [{ [name]: 1 }]))).toEqual([
      `message_extensions.0.${name}`,
    ]);
  });

  it.each([null, [], 'text', 7, true])('R57: a body that is no object: %j', (body) => {
    expect(errorFor(body)).toEqual(['(body)']);
  });
});

describe('unknown members', () => {
  it.each([
    ['merchantInfo', 'merchant_info'],
    ['purchase_inf', 'purchase_info'],
    ['amount', 'purchase_info.amount'],
    ['cardholder_info.mail', 'email'],
    ['cardholder_info.billing_address.zip', undefined],
    ['purchase_info.installmentCount', 'installment_count'],
  ])('R57: the unknown member %s is refused, with what was meant: %s', (path, suggestion) => {
    const violations = checkBody(changed(fullBody(), path, 'x'), 'customer');
    expect(violations).toEqual([
      { rule: 'unknown-field', path, severity: 'error', message: 'is not a field of the interface', suggestion },
    ]);
  });

  it('the check of unknown members shows no name that may be something else', () => {
    const body = { ...fullBody(), '4111111111111111': 1, 'Ann Example <ann@shop.example>': 2, ['x'.repeat(99)]: 3 };
    expect(new Set(errorFor(body))).toEqual(new Set(['(unusual name)']));
  });
});

describe('what violations tell', () => {
  it('R57: the check of a 3DS body never repeats a value of the body', () => {
    const secret = 'Zebulon-Quist-70';
    let body: unknown = fullBody();
    for (const [path, { wrong }] of Object.entries(FIELDS))
      if (wrong.includes('') || wrong.includes(1)) body = changed(body, path, path.endsWith('name') ? 1 : secret);
    const told = JSON.stringify(checkBody(body, 'customer'));
    expect(told.length).toBeGreaterThan(2000);
    expect(told).not.toContain(secret);
  });

  it('R40: the check of a 3DS body refuses a card number wherever none belongs, and does not show it', () => {
    const paths = [
      'cardholder_info.account_id',
      'cardholder_info.name',
      'broadcast_info.deep.list',
      'message_extensions',
    ];
    const number = '4111 1111-1111 1111';
    for (const path of paths) {
      const value = path === 'message_extensions' ? [{ data: number }] : path.endsWith('list') ? [number] : number;
      const violations = checkBody(changed(fullBody(), path, value), 'customer');
      expect(violations.map(({ rule }) => rule)).toEqual(['card-number']);
      expect(JSON.stringify(violations)).not.toMatch(SHOWN_DIGITS);
    }
  });

  it.each([
    ['purchase_info.amount', '4111111111111111', false],
    ['purchase_info.amount', '4222222222222', true],
    ['purchase_info.installment_count', '4111111111111111', false],
    ['cardholder_info.phone_number.number', '378282246310005', true],
    ['merchant_info.mid', '4111111111111111', true],
    ['requestor_info.id', '4111111111111111', true],
  ])('R40: the check of a 3DS body, of which %s is %s, allows it: %j', (path, digits, isAllowed) => {
    const rules = checkBody(changed(fullBody(), path, digits), 'customer').map(({ rule }) => rule);
    expect(rules).toEqual(isAllowed ? [] : ['card-number']);
  });
});
