import { randomUUID } from 'node:crypto';
import { type CardToken, cardTokenSchema, createCardTokenSchema } from '../../schema/vault.ts';
import { invalid, invalidFields } from '../problem.ts';
import { applicationId, tenantId } from '../seed/entities.ts';
import type { ApiRoute, Call } from '../service.ts';
import type { NewToken, TokenEvent } from '../state/world.ts';
import { maskedNumber, positionsOfNumber } from '../vault/cards.ts';

/** The one endpoint of tokens: the creation that test cards need. */
export const TOKEN_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/tokens',
    summary: 'Create a card token',
    kind: 'private',
    permission: 'token:create',
    audit: { entityType: 'card', noun: 'Card', operation: 'create' },
    request: createCardTokenSchema,
    response: cardTokenSchema,
    status: 201,
    handle: create,
  },
];

async function create(call: Call): Promise<CardToken> {
  const { id, created } = await createToken(call);
  const { seed } = call.service.state.world.start;
  call.audit({ entityType: 'card', entityId: id, operation: 'create', message: 'Card created' });
  return {
    id,
    tenant_id: tenantId(seed),
    type: 'card',
    data: {
      number: maskedNumber(created.firstSix, created.lastFour, created.length),
      ...(created.month !== undefined && { expiration_month: Number(created.month) }),
      ...(created.year !== undefined && { expiration_year: Number(created.year) }),
    },
    created_by: applicationId(seed, created.application),
    created_at: new Date(created.at).toISOString(),
  };
}

/**
 * Creates a card token from a request's body. Throws a 400 that says what is wrong and repeats nothing of it: a
 * card number must go nowhere.
 */
async function createToken({ service, key, now, json }: Call): Promise<NewToken> {
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
    ...positionsOfNumber(number),
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
  return hasCheckDigit(value) || Object.keys(positionsOfNumber(value)).length > 0;
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
