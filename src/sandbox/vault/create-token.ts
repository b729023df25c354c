import { randomUUID } from 'node:crypto';
import { invalid, invalidFields } from '../problem.ts';
import type { Call } from '../routes/route.ts';
import { placesOfNumber } from './card.ts';
import type { NewToken, TokenEvent } from './tokens.ts';

/**
 * Creates a card token from a request's body. Throws a 400 that says what is wrong and repeats nothing of it: a
 * card number must go nowhere.
 */
export async function createToken({ service, key, now, json }: Call): Promise<NewToken> {
  const card = readCard(await json());
  const nonce = randomUUID();
  const { tokens } = service.state.record({
    type: 'token',
    at: now,
    nonce,
    application: key.application,
    ...card,
  });
  const token = tokens.createdWith(nonce);
  if (token === undefined) throw new Error('the journal lost a token');
  return token;
}

type CardFacts = Omit<TokenEvent, 'type' | 'at' | 'nonce' | 'application'>;

function readCard(body: unknown): CardFacts {
  if (memberOf(body, 'type') !== 'card')
    throw invalid('type', 'Must be card: the sandbox makes no other tokens.');
  const data = memberOf(body, 'data');
  const number: unknown = memberOf(data, 'number');
  const month = readDigits(memberOf(data, 'expiration_month'), /^(0?[1-9]|1[0-2])$/);
  const year = readDigits(memberOf(data, 'expiration_year'), /^20\d\d$/);
  const errors: Record<string, string[]> = {};
  if (!isCardNumber(number)) errors['data.number'] = ['Must be the digits of a card number.'];
  if (month === null) errors['data.expiration_month'] = ['Must be a month from 1 to 12.'];
  if (year === null) errors['data.expiration_year'] = ['Must be a year of 4 digits.'];
  if (!isCardNumber(number) || month === null || year === null) throw invalidFields(errors);
  return {
    firstSix: number.slice(0, 6),
    lastFour: number.slice(-4),
    length: number.length,
    ...(month !== undefined && { month: month.padStart(2, '0') }),
    ...(year !== undefined && { year }),
    ...placesOfNumber(number),
  };
}

/** Undefined when absent, null when wrong. Numbers are taken as well as text. */
function readDigits(value: unknown, pattern: RegExp): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  return pattern.test(String(value)) ? String(value) : null;
}

// Some of the published test cards have no right check digit.
function isCardNumber(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{12,19}$/.test(value)) return false;
  return hasCheckDigit(value) || Object.keys(placesOfNumber(value)).length > 0;
}

function hasCheckDigit(number: string): boolean {
  const sum = number
    .split('')
    .toReversed()
    .reduce((total, digit, place) => {
      const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
