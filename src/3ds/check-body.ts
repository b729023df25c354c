// Checks the body of an authenticate request against the interface.

import type * as z from 'zod/mini';
import { nearest } from '../base/security/typed-word.ts';
import { cardNumbersIn, displayPath } from '../client/api/body-card-numbers.ts';
import { isObject } from '../schema/json-value.ts';
import { authenticateSchema, MAX_EXTENSIONS } from '../schema/three-ds/authenticate.ts';
import { ownValue } from '../schema/three-ds/body-values.ts';
import { BODY, type Field, fieldAt, fieldsBelow } from '../schema/three-ds/fields.ts';
import { type Combination, missingFields } from '../schema/three-ds/needs.ts';
import { SESSION_TYPES_BY_AUTHENTICATION_TYPE, type SessionType, sessionTypesOf } from '../schema/three-ds/values.ts';
import { errorFor, type Violation } from './rules.ts';
import { exampleBody } from './example-body.ts';

/**
 * Finds all violations in the body of an authenticate request, in the order of the documented fields. Without a session type,
 * applies the rules of the only session type that fits the authentication type; if both fit, the rules of a customer session,
 * which require less.
 */
export function checkBody(body: unknown, sessionType?: SessionType): Violation[] {
  const list = ownValue(body, ['message_extensions']);
  if (Array.isArray(list) && list.length > MAX_EXTENSIONS)
    return [errorFor('format', 'message_extensions', `must have at most ${MAX_EXTENSIONS} items`)];
  const combination = combinationOf(body, sessionType);
  const examples = exampleBody(combination);
  const issues = authenticateSchema.safeParse(body).error?.issues ?? [];
  const found = issues.flatMap((issue) => violationsOf(issue, body, examples));
  if (found.some(({ path }) => path === BODY_PATH)) return found;
  return inOrder([
    ...found,
    ...wrongSessionType(combination, sessionType),
    ...missingViolation(body, combination, examples),
    ...cardNumbers(body),
  ]);
}

// A mistyped value is reported separately, so rules that depend on the value use the one that was probably meant.
function combinationOf(body: unknown, sessionType: SessionType | undefined): Combination {
  const type = meant(body, 'authentication_type');
  const [only, other] = sessionTypesOf(type);
  return {
    category: meant(body, 'authentication_category'),
    type,
    decoupled: ownValue(body, ['request_decoupled_challenge']),
    sessionType: sessionType ?? (other === undefined ? only : 'customer'),
  };
}

function meant(body: unknown, name: string): unknown {
  const value = ownValue(body, [name]);
  return typeof value === 'string' ? (nearest(value, fieldAt(name)?.choices ?? []) ?? value) : value;
}

function wrongSessionType({ type }: Combination, sessionType: SessionType | undefined): Violation[] {
  const allowed = sessionTypesOf(type);
  if (sessionType === undefined || allowed.length === 0 || allowed.includes(sessionType)) return [];
  const types = Object.keys(SESSION_TYPES_BY_AUTHENTICATION_TYPE).filter((one) =>
    sessionTypesOf(one).includes(sessionType),
  );
  const message = `goes with sessions of type ${allowed.join(' and ')} only; a ${sessionType} session takes one of ${types.join(', ')}`;
  return [errorFor('session-type', 'authentication_type', message, { example: types[0] })];
}

/** Finds missing fields that the combination of category, type and session requires. */
function missingViolation(body: unknown, combination: Combination, examples: unknown): Violation[] {
  return missingFields(body, combination).map(({ path, when }) => {
    const message = `is needed when ${when.words}: ${fieldAt(path)?.description ?? ''}`;
    return errorFor('required', path, message, { example: ownValue(examples, path.split('.')) });
  });
}

/** Finds card numbers in the values and names of a request body. */
function cardNumbers(body: unknown): Violation[] {
  return cardNumbersIn(body).map(({ parts }) =>
    errorFor('card-number', displayPath(parts), 'looks like a card number; none may be sent in a body'),
  );
}

/** Sorts violations in the order of the documented fields. */
export function inOrder(violations: readonly Violation[]): Violation[] {
  const order = fieldsBelow(BODY).map(({ path }) => path);
  const rank = ({ path }: Violation): number => {
    for (let prefix = path; prefix !== ''; prefix = prefix.replace(/(?:^|\.)[^.]*$/, '')) {
      const at = order.indexOf(prefix);
      if (at !== -1) return at;
    }
    return order.length;
  };
  const ranked = violations.map((violation) => ({ violation, rank: rank(violation) }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ violation }) => violation);
}

const BODY_PATH = '(body)';

// Finding suggestions takes long, and nobody reads thousands.
const MAX_SUGGESTIONS = 50;

/** Converts an issue of the schema to violations. `examples` is a valid body of the same combination. */
function violationsOf(issue: z.core.$ZodIssue, body: unknown, examples: unknown): Violation[] {
  const parts = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key, at) => unknownMember(parts, key, at < MAX_SUGGESTIONS));
  const path = parts.length === 0 ? BODY_PATH : parts.join('.');
  const field = fieldAt(parts.join('.'));
  if (field === undefined) return [errorFor('format', displayPath(parts), 'does not match the interface')];
  const value = ownValue(body, parts);
  // A whole body is too long for an example.
  const example = parts.length === 0 ? undefined : (ownValue(examples, parts) ?? exampleOf(field));
  if (value === undefined) return [errorFor('required', path, `is needed: ${field.description}`, { example })];
  const meant = typeof value === 'string' ? nearest(value, field.choices ?? []) : undefined;
  return [errorFor('format', path, mustBe(field, value), { example: meant ?? example, suggestion: meant })];
}

function unknownMember(parts: readonly string[], key: string, suggests: boolean): Violation {
  const suggestion = suggests ? meantMember(parts, key) : undefined;
  return errorFor('unknown-field', displayPath([...parts, key]), 'is not a field of the interface', { suggestion });
}

function meantMember(parts: readonly string[], key: string): string | undefined {
  const names = [...(fieldAt(parts.join('.'))?.members.keys() ?? [])];
  const snakeCase = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return nearest(key, names) ?? nearest(snakeCase, names) ?? elsewhere(key);
}

// For a field in the wrong object, the suggestion is its full path.
function elsewhere(key: string): string | undefined {
  const homes = fieldsBelow(BODY).filter(({ path }) => path === key || path.endsWith(`.${key}`));
  return homes.length === 1 ? homes[0]?.path : undefined;
}

function mustBe(field: Field, value: unknown): string {
  const [kind, isOfKind] = KINDS[field.kind];
  // Only the whole body has no description.
  if (!isOfKind(value)) return field.description === '' ? `must be ${kind}` : `must be ${kind}: ${field.description}`;
  if (field.choices !== undefined) return `must be one of ${field.choices.join(', ')}`;
  return value === '' ? `must not be empty: ${field.description}` : `must be ${field.description}`;
}

const KINDS: Readonly<Record<Field['kind'], readonly [name: string, isOfKind: (value: unknown) => boolean]>> = {
  text: ['a string', (value) => typeof value === 'string'],
  flag: ['true or false, without quotes', (value) => typeof value === 'boolean'],
  number: ['a number, without quotes', (value) => typeof value === 'number'],
  object: ['an object', isObject],
  list: ['an array', Array.isArray],
  free: ['an object', isObject],
};

function exampleOf(field: Field): unknown {
  if (field.kind === 'free') return {};
  if (field.kind === 'list') return field.item === undefined ? [] : [exampleOf(field.item)];
  if (field.kind !== 'object') return field.example;
  const [first] = field.members;
  return first === undefined ? {} : { [first[0]]: exampleOf(first[1]) };
}
