import { describe, expect, it } from 'vitest';
import { checkBody } from '../../src/3ds/check-body.ts';
import { amountTextOf, contradictionsIn } from '../../src/3ds/contradictions.ts';
import glossary from '../../src/3ds/glossary.json' with { type: 'json' };
import { LIFTABLE_RULES } from '../../src/3ds/rules.ts';
import { templateBody } from '../../src/3ds/template.ts';
import { allCurrencies, countryOf, currencyOf } from '../../src/schema/three-ds/tables.ts';
import { SESSIONS_OF } from '../support/interface.ts';
import { changed, fullBody } from './bodies.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

/** A valid body of a purchase at that time. */
const BODY = changed(
  changed(fullBody(), 'purchase_info.date', '20261128120000'),
  'purchase_info.recurring_expiration',
  '20271128',
);

function withValues(values: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(values).reduce((body, [path, value]) => changed(body, path, value), BODY);
}

/** Returns the rules that a body with these values breaks, each with its severity. */
function rulesOf(values: Readonly<Record<string, unknown>>): string[] {
  return contradictionsIn(withValues(values), NOW).map(({ rule, severity }) => `${severity} ${rule}`);
}

/** The currencies of ISO 4217 with other minor units than 2, written from the standard and not from the table. */
const UNITS: Readonly<Record<string, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

function unitsOf(code: string): string {
  return Object.keys(UNITS).find((units) => UNITS[units]?.split(' ').includes(code)) ?? '2';
}

describe('amount, currency and exponent', () => {
  const current = allCurrencies().filter(({ isMoney, until }) => isMoney && until === undefined);

  it('R95: every currency takes the exponent of ISO 4217 and no other, by letters and by number', () => {
    expect(current).toHaveLength(165);
    for (const { code, number } of current)
      for (const exponent of ['0', '1', '2', '3', '4'])
        for (const currency of [code, code.toLowerCase(), number])
          expect(
            rulesOf({ 'purchase_info.currency': currency, 'purchase_info.exponent': exponent }),
            `${currency} ${exponent}`,
          ).toEqual(exponent === unitsOf(code) ? [] : ['error exponent']);
  });

  it('R95: a wrong exponent is refused with the amount that the cardholder would see, and the one that is meant', () => {
    const yen = withValues({ 'purchase_info.currency': '392', 'purchase_info.amount': '500000' });
    const [found] = contradictionsIn(yen, NOW);
    expect(found).toMatchObject({ rule: 'exponent', path: 'purchase_info.exponent', example: '0' });
    expect(found?.message).toBe(
      'contradicts the currency: JPY has 0 minor units, and the exponent says 2: 500000 would be 5,000.00 JPY, not 500,000 JPY',
    );
    const dinar = withValues({ 'purchase_info.currency': 'KWD', 'purchase_info.amount': '12345' });
    expect(contradictionsIn(dinar, NOW)[0]?.message).toContain('12345 would be 123.45 KWD, not 12.345 KWD');
  });

  it.each([
    ['500000', 'JPY', '0', '500,000 JPY'],
    ['12345', '414', '3', '12.345 KWD'],
    ['7', '978', '2', '0.07 EUR'],
    ['000', 'usd', '2', '0.00 USD'],
    ['1234567', 'CLF', '4', '123.4567 CLF'],
    ['4222222222222', 'USD', '2', undefined],
    ['10.00', 'USD', '2', undefined],
    ['1000', '000', '2', undefined],
  ])('the amount %s of %s with exponent %s reads %s', (amount, currency, exponent, text) => {
    expect(amountTextOf({ purchase_info: { amount, currency, exponent } })).toBe(text);
  });

  it('R40: a refused exponent shows no digits that may be a card number', () => {
    const body = withValues({ 'purchase_info.amount': '4222222222222', 'purchase_info.exponent': '0' });
    const [found] = contradictionsIn(body, NOW);
    expect([found?.rule, found?.message]).toEqual(['exponent', expect.not.stringContaining('222')]);
  });
});

describe('the tables', () => {
  it('the table of currencies has the changes of ISO 4217 up to amendment 180', () => {
    expect(currencyOf('532')?.code).toBe('XCG');
    expect(currencyOf('ANG')).toMatchObject({ number: '532', until: '2025-03-31', successor: 'XCG' });
    expect(currencyOf('BGN')).toMatchObject({ number: '975', until: '2026-01-01', successor: 'EUR' });
    expect(currencyOf('396')).toMatchObject({ code: 'XAD', until: undefined });
    expect(currencyOf('924')).toMatchObject({ code: 'ZWG', until: undefined });
    for (const code of ['CUC', 'ZWL', '191', '694', '891']) expect(currencyOf(code)?.until, code).toBeDefined();
  });

  it('the table of currencies has each alphabetic code once, and a current successor of every historic one', () => {
    const all = allCurrencies();
    expect(new Set(all.map(({ code }) => code)).size).toBe(all.length);
    for (const { code, number } of all) {
      expect([code, number]).toEqual([expect.stringMatching(/^[A-Z]{3}$/), expect.stringMatching(/^\d{3}$/)]);
    }
    const historic = all.filter(({ until }) => until !== undefined);
    for (const { code, successor } of historic) expect(currencyOf(successor ?? '')?.until, code).toBeUndefined();
  });

  it('the table of countries has the 249 numbers of ISO 3166-1', () => {
    const numbers = Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, '0'));
    expect(numbers.filter((number) => countryOf(number) !== undefined)).toHaveLength(249);
  });

  it('svc explain has every rule for a body that --allow names', () => {
    expect(Object.keys(glossary['rule for a 3DS body'])).toEqual(expect.arrayContaining([...LIFTABLE_RULES]));
  });
});

/**
 * Payloads as the field references of public 3DS servers and SDKs show them, and what people make of them. The rules that
 * each breaks are listed: none, warnings with which it is sent, and errors.
 */
const PAYLOADS: readonly (readonly [
  what: string,
  values: Readonly<Record<string, unknown>>,
  rules: readonly string[],
])[] = [
  ['a payment in euros', {}, []],
  ['a payment in yen', { 'purchase_info.currency': '392', 'purchase_info.exponent': '0' }, []],
  ['a payment in dinars', { 'purchase_info.currency': '414', 'purchase_info.exponent': '3' }, []],
  ['a payment of nothing', { 'purchase_info.amount': '0' }, []],
  ['the letters of a currency', { 'purchase_info.currency': 'GBP' }, []],
  ['yen with two digits', { 'purchase_info.currency': '392' }, ['error exponent']],
  ['dollars without digits', { 'purchase_info.currency': '840', 'purchase_info.exponent': '0' }, ['error exponent']],
  ['forints as CLDR has them', { 'purchase_info.currency': '348', 'purchase_info.exponent': '0' }, ['error exponent']],
  ['lev in 2026', { 'purchase_info.currency': 'BGN' }, ['warning historic-currency']],
  ['guilders by their letters', { 'purchase_info.currency': 'ANG' }, ['warning historic-currency']],
  ['guilders by their number', { 'purchase_info.currency': '532' }, []],
  ['kuna by number', { 'purchase_info.currency': '191' }, ['warning historic-currency']],
  [
    'yen for kuna',
    { 'purchase_info.currency': '191', 'purchase_info.exponent': '0' },
    ['warning historic-currency', 'error exponent'],
  ],
  ['gold', { 'purchase_info.currency': '959' }, ['error currency']],
  ['a code for tests', { 'purchase_info.currency': 'XTS' }, ['error currency']],
  ['no currency', { 'purchase_info.currency': '999' }, ['error currency']],
  ['a number of nothing', { 'purchase_info.currency': '000' }, ['error currency']],
  ['gift cards in gold', { 'merchant_info.risk_info.gift_card_currency': '959' }, ['error currency']],
  ['a merchant in Kosovo', { 'merchant_info.country_code': '983' }, ['warning country']],
  ['a merchant in a former country', { 'merchant_info.country_code': '891' }, ['warning country']],
  [
    'London in the United States',
    { 'cardholder_info.billing_address': { state_code: 'GB-LND', country_code: '840' } },
    ['error country-of-state'],
  ],
  ['California', { 'cardholder_info.billing_address': { state_code: 'US-CA', country_code: '840' } }, []],
  [
    'California without its country',
    { 'cardholder_info.billing_address': { state_code: 'CA', country_code: '840' } },
    [],
  ],
  [
    'Puerto Rico as a country',
    { 'cardholder_info.shipping_address': { state_code: 'US-PR', country_code: '630' } },
    [],
  ],
  ['a category in words', { 'merchant_info.category_code': 'banana' }, ['error category-code']],
  ['half a minute', { decoupled_challenge_max_time: 0.5 }, ['error challenge-time']],
  ['two years', { decoupled_challenge_max_time: 1e9 }, ['error challenge-time']],
  ['one installment', { 'purchase_info.installment_count': '1' }, ['error installments']],
  ['a series that ends today', { 'purchase_info.recurring_expiration': '20261128' }, ['error recurring-expiration']],
  [
    'a series that ended',
    { 'purchase_info.date': '20200101000000', 'purchase_info.recurring_expiration': '20210101' },
    ['warning purchase-date', 'error recurring-expiration'],
  ],
  ['a purchase of last week', { 'purchase_info.date': '20261121120000' }, ['warning purchase-date']],
  ['a purchase of tomorrow in another zone', { 'purchase_info.date': '20261129230000' }, []],
  ['a long shop', { 'merchant_info.name': 'x'.repeat(41) }, ['warning length']],
  ['a long amount', { 'purchase_info.amount': '1'.repeat(49) }, ['warning length']],
  ['a frequency of five digits', { 'purchase_info.recurring_frequency': '10000' }, ['warning length']],
];

describe('payloads', () => {
  it.each(PAYLOADS)('a body with %s is told what it is', (_, values, rules) => {
    expect(checkBody(withValues(values), 'customer').filter(({ rule }) => rule !== 'format')).toEqual([]);
    expect(rulesOf(values)).toEqual(rules);
  });

  it('an error of a table gives an example that is right', () => {
    const wrong = PAYLOADS.flatMap(([, values]) =>
      contradictionsIn(withValues(values), NOW).filter(
        ({ path, severity, example }) =>
          severity === 'error' &&
          example !== undefined &&
          contradictionsIn(changed(withValues(values), path, example), NOW).some((one) => one.path === path),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

it('R95: templates of every type and currency are valid as they are made', () => {
  for (const [type, sessions] of Object.entries(SESSIONS_OF))
    for (const currency of ['USD', 'EUR', 'JPY', 'KWD', 'CLF', 'XOF'])
      for (const sessionType of sessions) {
        const body = templateBody({ type, category: 'payment', sessionType }, NOW, currencyOf(currency));
        expect(checkBody(body, sessionType), `${type} ${currency}`).toEqual([]);
        expect(contradictionsIn(body, NOW), `${type} ${currency}`).toEqual([]);
        expect(amountTextOf(body)).toMatch(new RegExp(`^[\\d.,]+ ${currency}$`));
      }
});
