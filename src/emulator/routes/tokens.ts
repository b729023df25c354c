import { randomUUID } from 'node:crypto';
import { invalid, invalidFields } from '../problem.ts';
import { applicationId } from '../seed/logs.ts';
import type { ApiRoute, Call } from '../endpoint.ts';
import type { EventOf } from '../state/events.ts';
import { maskedNumber, positionsOfNumber } from '../vault/cards.ts';

/** The only endpoint of tokens, which creates tokens for test cards. */
export const TOKEN_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/tokens',
    permission: 'token:create',
    audit: { entityType: 'card', noun: 'Card', operation: 'create' },
    status: 201,
    handle: createToken,
  },
];

// Errors never quote the body, which contains a card number.
async function createToken({ service, key, now, json, created }: Call) {
  const card = readCard(await json());
  const nonce = randomUUID();
  const { application } = key;
  const { tokens, start, tenantId } = service.state.record({ type: 'token', at: now, nonce, application, ...card });
  const { id } = tokens.createdWith(nonce);
  created(id);
  const { firstSix, lastFour, length, month, year } = card;
  return {
    id,
    tenant_id: tenantId,
    type: 'card',
    data: {
      number: maskedNumber(firstSix, lastFour, length),
      ...(month !== undefined && { expiration_month: Number(month) }),
      ...(year !== undefined && { expiration_year: Number(year) }),
    },
    created_by: applicationId(start.seed, application),
    created_at: new Date(now).toISOString(),
  };
}

type CardFacts = Omit<EventOf<'token'>, 'type' | 'at' | 'nonce' | 'application'>;

function readCard(body: unknown): CardFacts {
  if (memberOf(body, 'type') !== 'card') throw invalid('type', 'Must be card: the sandbox creates no other tokens.');
  const data = memberOf(body, 'data');
  const number = memberOf(data, 'number');
  const month = readDigits(memberOf(data, 'expiration_month'), /^(0?[1-9]|1[0-2])$/);
  const year = readDigits(memberOf(data, 'expiration_year'), /^20\d\d$/);
  const broken: [path: string, message: string][] = [];
  if (!isCardNumber(number)) broken.push(['data.number', 'Must be the digits of a card number.']);
  if (month === null) broken.push(['data.expiration_month', 'Must be a month from 1 to 12.']);
  if (year === null) broken.push(['data.expiration_year', 'Must be a year of 4 digits.']);
  if (!isCardNumber(number) || month === null || year === null) throw invalidFields(broken);
  return {
    firstSix: number.slice(0, 6),
    lastFour: number.slice(-4),
    length: number.length,
    ...(month !== undefined && { month: month.padStart(2, '0') }),
    ...(year !== undefined && { year }),
    ...positionsOfNumber(number),
  };
}

/** Reads digits from a text or a number: undefined if absent, null if invalid. */
function readDigits(value: unknown, pattern: RegExp): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  return pattern.test(String(value)) ? String(value) : null;
}

// Some of the published test cards have a wrong check digit.
function isCardNumber(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{12,19}$/.test(value)) return false;
  return hasCheckDigit(value) || Object.keys(positionsOfNumber(value)).length > 0;
}

function hasCheckDigit(number: string): boolean {
  const digits = number.split('').toReversed().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const value = index % 2 === 0 ? digit : digit * 2;
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
