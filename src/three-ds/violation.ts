import type * as z from 'zod';
import { containsCardNumber } from '../card-number.ts';
import { nearest } from '../nearest.ts';
import { BODY, type Field, fieldAt, fieldsBelow } from './fields.ts';
import { UNKNOWN_MEMBER } from './rules.ts';
import { isObject, ownValue } from './values-in.ts';

/** A rule that a body breaks. Holds nothing of the body but names of members: it may be shown and logged. */
export interface Violation {
  /** Dotted; `(body)` for the body itself. */
  readonly path: string;
  /** The rule, in words that go on from the path. */
  readonly rule: string;
  /** A right value, where one can be given. */
  readonly example?: unknown;
  /** The known name or value that was probably meant. */
  readonly suggestion?: string | undefined;
}

/** The path of the whole body. */
export const WHOLE = '(body)';

// Looking for what was meant is costly, and nobody reads thousands of suggestions.
const MOST_SUGGESTED = 50;

/** What an issue of the schema means. `examples` is a right body of the same combination. */
export function violationsOf(issue: z.core.$ZodIssue, body: unknown, examples: unknown): Violation[] {
  const parts = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key, at) => unknownMember(parts, key, at < MOST_SUGGESTED));
  const path = parts.length === 0 ? WHOLE : parts.join('.');
  const field = fieldAt(parts.join('.'));
  if (field === undefined) return [{ path: shownPath(parts), rule: 'is not as the interface has it' }];
  const value = ownValue(body, parts);
  const example = ownValue(examples, parts) ?? exampleOf(field);
  if (value === undefined) return [{ path, rule: `is needed: ${field.description}`, example }];
  const meant = typeof value === 'string' ? nearest(value, field.choices ?? []) : undefined;
  return [{ path, rule: ruleOf(field, value), example: meant ?? example, suggestion: meant }];
}

/** A path that can be shown: parts that do not look like names of members may be anything, and are left out. */
export function shownPath(parts: readonly string[]): string {
  return parts.map((part) => (looksLikeName(part) ? part : '(unusual name)')).join('.');
}

/** Whether a part of a path is like the names of members and numbers of items that a body holds. */
export function looksLikeName(part: string): boolean {
  return /^(?:(?!__proto__$)[A-Za-z_][\w-]{0,63}|\d{1,4})$/.test(part) && !containsCardNumber(part);
}

function unknownMember(parts: readonly string[], key: string, suggests: boolean): Violation {
  const suggestion = suggests ? meantMember(parts, key) : undefined;
  return { path: shownPath([...parts, key]), rule: UNKNOWN_MEMBER, suggestion };
}

function meantMember(parts: readonly string[], key: string): string | undefined {
  const names = [...(fieldAt(parts.join('.'))?.members.keys() ?? [])];
  return nearest(key, names) ?? nearest(snakeCase(key), names) ?? elsewhere(key);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// A field in the wrong object is named with its whole path.
function elsewhere(key: string): string | undefined {
  const homes = fieldsBelow(BODY).filter(({ path }) => path === key || path.endsWith(`.${key}`));
  return homes.length === 1 ? homes[0]?.path : undefined;
}

function ruleOf(field: Field, value: unknown): string {
  if (!hasKind(field, value)) return `must be ${KIND_WORDS[field.kind]}: ${field.description}`;
  if (field.choices !== undefined) return `must be one of ${field.choices.join(', ')}`;
  return value === '' ? `must not be empty: ${field.description}` : `must be ${field.description}`;
}

const KIND_WORDS: Readonly<Record<Field['kind'], string>> = {
  text: 'a string',
  flag: 'true or false, without quotes',
  number: 'a number, without quotes',
  object: 'an object',
  list: 'an array',
  free: 'an object',
};

function hasKind({ kind }: Field, value: unknown): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'flag') return typeof value === 'boolean';
  if (kind === 'number') return typeof value === 'number';
  return kind === 'list' ? Array.isArray(value) : isObject(value);
}

function exampleOf(field: Field): unknown {
  if (field.kind === 'free') return {};
  if (field.kind === 'list') return field.item === undefined ? [] : [exampleOf(field.item)];
  if (field.kind !== 'object') return field.example;
  const [first] = field.members;
  return first === undefined ? {} : { [first[0]]: exampleOf(first[1]) };
}
