// Finds contradictions in the body of an authenticate request: between its fields, and with public tables.

import { containsCardNumber } from '../base/security/card-number.ts';
import { DAY_MS } from '../schema/durations.ts';
import { ownValue } from '../schema/three-ds/body-values.ts';
import { amountText, countryOf, currencyOf, isCountryCode } from '../schema/three-ds/tables.ts';
import { errorFor, type Violation } from './rules.ts';

/**
 * Finds contradictions in a body: with itself, or with public tables such as ISO 4217. The service documents none of these rules.
 * `checkBody` checks the form of values.
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
    installments(textAt('purchase_info.installment_count')),
    recurringExpiration(textAt('purchase_info.recurring_expiration'), textAt('purchase_info.date'), now),
    categoryCode(textAt('merchant_info.category_code')),
    ...ADDRESSES.map((path) => stateAt(path, textAt(`${path}.state_code`), textAt(`${path}.country_code`))),
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
const MAX_CHALLENGE_MINUTES = 10_080;

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
  return errorFor('currency', path, message, { example: currencyOf(successor ?? '')?.number });
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

// A territory may be a country and a subdivision of another country: Puerto Rico is 630 and US-PR.
function stateAt(address: string, state: string, number: string): Found {
  const [, prefix = ''] = /^([A-Z]{2})-/.exec(state) ?? [];
  const country = countryOf(number);
  if (country === undefined || [country.code, country.within].includes(prefix) || !isCountryCode(prefix)) return;
  const message = `contradicts country_code: it begins with ${prefix}, and ${number} is ${country.code}`;
  return errorFor('country-of-state', `${address}.state_code`, message);
}

/** Formats the day of a time in UTC as `YYYYMMDD`. */
export function dayOf(time: number): string {
  return secondOf(time).slice(0, 8);
}

/** Formats a time in UTC as `YYYYMMDDhhmmss`. */
export function secondOf(time: number): string {
  return new Date(time).toISOString().replaceAll(/\D/g, '').slice(0, 14);
}
