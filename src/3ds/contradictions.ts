// Finds contradictions in the body of an authenticate request: between its fields, with public tables, and with EMV 3-D Secure.

import { containsCardNumber } from '../base/security/card-number.ts';
import { DAY_MS } from '../schema/durations.ts';
import { ownValue } from '../schema/three-ds/body-values.ts';
import { amountText, countryOf, currencyOf, isCountryCode } from '../schema/three-ds/tables.ts';
import { errorFor, type Rule, type Violation } from './rules.ts';

/**
 * Finds contradictions in a body: with itself, with public tables such as ISO 4217, or with the rules of EMV 3-D Secure. Also
 * warns of values that many servers refuse. The service documents none of these rules. `checkBody` checks the form of values.
 */
export function contradictionsIn(body: unknown, now: number): Violation[] {
  const textAt = (path: string): string => {
    const value = ownValue(body, path.split('.'));
    return typeof value === 'string' ? value : '';
  };
  const found = [
    challengeTime(ownValue(body, ['decoupled_challenge_max_time'])),
    ...CURRENCIES.map((path) => currencyAt(path, textAt(path))),
    exponent(body),
    purchaseDate(textAt('purchase_info.date'), now),
    installments(textAt('purchase_info.installment_count')),
    recurringExpiration(textAt('purchase_info.recurring_expiration'), textAt('purchase_info.date'), now),
    categoryCode(textAt('merchant_info.category_code')),
    ...COUNTRIES.map((path) => countryAt(path, textAt(path))),
    ...ADDRESSES.map((path) => stateAt(path, textAt(`${path}.state_code`), textAt(`${path}.country_code`))),
    ...LENGTHS.map(([path, most, unit]) => lengthAt(path, textAt(path), most, unit)),
    ...extensionLengths(body, textAt),
  ];
  return found.filter((one) => one !== undefined);
}

/**
 * Returns the amount of a body for people, such as `500,000 JPY`; undefined without an amount, and if the digits may be a card
 * number.
 */
export function amountTextOf(body: unknown): string | undefined {
  const [amount = '', currency = '', units = ''] = purchaseOf(body);
  if (!/^\d+$/.test(amount) || currencyOf(currency) === undefined || !/^[0-4]$/.test(units)) return undefined;
  return containsCardNumber(amount, 'cell') ? undefined : amountText(amount, Number(units), currency);
}

const CURRENCIES = ['purchase_info.currency', 'merchant_info.risk_info.gift_card_currency'];
const ADDRESSES = ['cardholder_info.billing_address', 'cardholder_info.shipping_address'];
const COUNTRIES = ['merchant_info.country_code', ...ADDRESSES.map((path) => `${path}.country_code`)];
const MAX_CHALLENGE_MINUTES = 10_080;
const MAX_PURCHASE_DISTANCE_DAYS = 2;

/** A contradiction; undefined if there is none. */
type Found = Violation | undefined;

function purchaseOf(body: unknown): string[] {
  return ['amount', 'currency', 'exponent'].map((name) => {
    const value = ownValue(body, ['purchase_info', name]);
    return typeof value === 'string' ? value : '';
  });
}

function exponent(body: unknown): Found {
  const [amount = '', code = '', given = ''] = purchaseOf(body);
  const currency = currencyOf(code);
  const units = currency?.units;
  if (currency === undefined || units === undefined || !/^[0-4]$/.test(given) || Number(given) === units) return;
  const shown = amountTextOf(body);
  const meant = amountText(amount, units, code);
  const amounts = shown === undefined ? '' : `: ${amount} would be ${shown}, not ${meant}`;
  const message = `contradicts the currency: ${currency.code} has ${units} minor units, and the exponent says ${given}${amounts}`;
  return errorFor('exponent', 'purchase_info.exponent', message, { example: String(units) });
}

function currencyAt(path: string, number: string): Found {
  const example = '840';
  const currency = currencyOf(number);
  if (currency === undefined && /^\d{3}$/.test(number))
    return errorFor('currency', path, 'is a number that ISO 4217 gives to no currency', { example });
  if (currency === undefined) return;
  const { code, isMoney, until, successor } = currency;
  if (!isMoney) return errorFor('currency', path, `is ${code} of ISO 4217, in which no cardholder pays`, { example });
  if (until === undefined) return;
  const message = `is ${code}, which ISO 4217 lists as historic since ${until}; ${successor} replaced it`;
  return warning('historic-currency', path, message);
}

function challengeTime(minutes: unknown): Found {
  if (typeof minutes !== 'number' || minutes <= 0) return;
  if (Number.isInteger(minutes) && minutes <= MAX_CHALLENGE_MINUTES) return;
  const message = `must be a whole number of minutes from 1 to ${MAX_CHALLENGE_MINUTES}, which is 7 days`;
  return errorFor('challenge-time', 'decoupled_challenge_max_time', message, { example: 60 });
}

function installments(count: string): Found {
  if (!/^\d+$/.test(count) || Number(count) >= 2) return;
  return errorFor('installments', 'purchase_info.installment_count', 'must be at least 2', { example: '12' });
}

function purchaseDate(date: string, now: number): Found {
  const days = (now - timeOf(date)) / DAY_MS;
  if (!/^\d{14}$/.test(date) || !(Math.abs(days) > MAX_PURCHASE_DISTANCE_DAYS)) return;
  const distance = `${Math.floor(Math.abs(days))} days ${days > 0 ? 'ago' : 'ahead'}`;
  const message = `is ${distance}; it should be the time of this purchase, in UTC`;
  return warning('purchase-date', 'purchase_info.date', message);
}

function recurringExpiration(expiration: string, purchase: string, now: number): Found {
  if (!/^\d{8}$/.test(expiration)) return;
  const isBefore = /^\d{14}$/.test(purchase) && expiration <= purchase.slice(0, 8);
  if (!isBefore && expiration >= dayOf(now)) return;
  const message = isBefore
    ? 'must be later than the purchase: it is the date of the final authorization'
    : 'has passed';
  const example = dayOf(now + 365 * DAY_MS);
  return errorFor('recurring-expiration', 'purchase_info.recurring_expiration', message, { example });
}

function categoryCode(code: string): Found {
  if (code === '' || /^\d{4}$/.test(code)) return;
  const message = 'must have 4 digits, as ISO 18245 writes it';
  return errorFor('category-code', 'merchant_info.category_code', message, { example: '5411' });
}

function countryAt(path: string, code: string): Found {
  if (!/^\d{3}$/.test(code) || countryOf(code) !== undefined) return;
  return warning('country', path, 'is a number that ISO 3166-1 gives to no country');
}

// A territory may be a country and a subdivision of another country: Puerto Rico is 630 and US-PR.
function stateAt(address: string, state: string, number: string): Found {
  const [, prefix = ''] = /^([A-Z]{2})-/.exec(state) ?? [];
  const country = countryOf(number);
  if (country === undefined || [country.code, country.within].includes(prefix) || !isCountryCode(prefix)) return;
  const message = `contradicts country_code: it begins with ${prefix}, and ${number} is ${country.code}`;
  return errorFor('country-of-state', `${address}.state_code`, message);
}

function lengthAt(path: string, text: string, most: number, unit = 'characters'): Found {
  const { length } = Array.from(text);
  if (length <= most) return;
  return warning('length', path, `has ${length} ${unit}; many servers refuse more than ${most}`);
}

function extensionLengths(body: unknown, textAt: (path: string) => string): Found[] {
  const list = ownValue(body, ['message_extensions']);
  if (!Array.isArray(list)) return [];
  const tooMany = `has ${list.length} items; many servers refuse more than ${USUAL_EXTENSIONS}`;
  return [
    list.length > USUAL_EXTENSIONS ? warning('length', 'message_extensions', tooMany) : undefined,
    ...Array.from(list.keys(), (at) => `message_extensions.${at}`).flatMap((item) =>
      EXTENSION_LENGTHS.map(([name, most]) => lengthAt(`${item}.${name}`, textAt(`${item}.${name}`), most)),
    ),
  ];
}

const USUAL_EXTENSIONS = 10;
const EXTENSION_LENGTHS = [
  ['id', 64],
  ['name', 64],
  ['data', 8059],
] as const;

/** The maximum lengths of EMV 3-D Secure. The service documents none. */
const LENGTHS: readonly (readonly [path: string, most: number, unit?: string])[] = [
  ['purchase_info.amount', 48, 'digits'],
  ['purchase_info.installment_count', 3, 'digits'],
  ['purchase_info.recurring_frequency', 4, 'digits'],
  ['merchant_info.mid', 35],
  ['merchant_info.acquirer_bin', 11],
  ['merchant_info.name', 40],
  ['merchant_info.risk_info.delivery_email', 254],
  ['merchant_info.risk_info.gift_card_amount', 15, 'digits'],
  ['merchant_info.risk_info.gift_card_count', 2, 'digits'],
  ['requestor_info.id', 35],
  ['requestor_info.name', 40],
  ['requestor_info.url', 2048],
  ['cardholder_info.account_id', 64],
  ['cardholder_info.account_info.purchase_count_half_year', 4, 'digits'],
  ['cardholder_info.account_info.transaction_count_day', 3, 'digits'],
  ['cardholder_info.account_info.transaction_count_year', 3, 'digits'],
  ['cardholder_info.authentication_info.data', 20_000],
  ['cardholder_info.prior_authentication_info.reference_id', 36],
  ['cardholder_info.prior_authentication_info.data', 2048],
  ['cardholder_info.name', 45],
  ['cardholder_info.email', 254],
  ...['phone_number', 'mobile_phone_number', 'work_phone_number'].flatMap((phone) => [
    [`cardholder_info.${phone}.country_code`, 3] as const,
    [`cardholder_info.${phone}.number`, 15] as const,
  ]),
  ...ADDRESSES.flatMap((address) =>
    ['line1', 'line2', 'line3', 'city'].map((name) => [`${address}.${name}`, 50] as const),
  ),
  ...ADDRESSES.map((address) => [`${address}.postal_code`, 16] as const),
];

function warning(rule: Rule, path: string, message: string): Violation {
  return { rule, path, severity: 'warning', message };
}

function timeOf(date: string): number {
  const [, year, month, day, hour, minute, second] = /^(....)(..)(..)(..)(..)(..)$/.exec(date) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Formats the day of a time in UTC as `YYYYMMDD`. */
export function dayOf(time: number): string {
  return secondOf(time).slice(0, 8);
}

/** Formats a time in UTC as `YYYYMMDDhhmmss`. */
export function secondOf(time: number): string {
  return new Date(time).toISOString().replaceAll(/\D/g, '').slice(0, 14);
}
