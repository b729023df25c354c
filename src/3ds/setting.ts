// Sets values in the body of an authentication: `--set path=value`.

import { SvcError } from '../base/errors.ts';
import { nearest, questionOf, typedWord } from '../base/security/typed-word.ts';
import { withAssignments } from '../cli/app/assignment.ts';
import { looksLikeName } from '../client/api/body-card-numbers.ts';
import { ownValue } from '../schema/three-ds/body-values.ts';
import { BODY, type Field, fieldAt, fieldsBelow } from '../schema/three-ds/fields.ts';
import { currencyOf } from '../schema/three-ds/tables.ts';

export interface Setting {
  /** Dotted path of a field. */
  readonly name: string;
  readonly value: string;
}

/**
 * Returns a copy of the body with these values set, each converted to the type of its field. Unknown fields, if allowed,
 * become strings.
 * @throws SvcError `usage`, which never repeats a value, and a path only if it resembles a known one
 */
export function withSettings(body: unknown, settings: readonly Setting[], allowUnknown: boolean): unknown {
  return settings.reduce((result, setting) => put(result, setting.name, valueOf(setting, allowUnknown)), body);
}

const CURRENCY_FIELDS = ['purchase_info.currency', 'merchant_info.risk_info.gift_card_currency'];

/** Replaces alphabetic currencies in a body, such as USD, by their ISO 4217 numbers. */
export function withNumericCurrencies(body: unknown): unknown {
  return rewrittenCurrencies(body).reduce((result, { path, code }) => put(result, path, code), body);
}

/** Finds the currencies of a body for which svc sends another code: the ISO 4217 number. */
export function rewrittenCurrencies(body: unknown): { path: string; code: string }[] {
  return CURRENCY_FIELDS.flatMap((path) => {
    const given = ownValue(body, path.split('.'));
    const currency = typeof given === 'string' ? currencyOf(given) : undefined;
    return currency === undefined || currency.number === given ? [] : [{ path, code: currency.number }];
  });
}

/** Returns the exponent of a set currency, if the body has another exponent and no setting changes the exponent. */
export function exponentOfCurrency(body: unknown, settings: readonly Setting[]) {
  const names = new Set(settings.map(({ name }) => name));
  const code = ownValue(body, ['purchase_info', 'currency']);
  if (!names.has('purchase_info.currency') || names.has('purchase_info.exponent')) return undefined;
  const currency = typeof code === 'string' ? currencyOf(code) : undefined;
  if (currency?.units === undefined) return undefined;
  const value = String(currency.units);
  return ownValue(body, ['purchase_info', 'exponent']) === value ? undefined : { value, currency: currency.code };
}

/** Puts a value at a path. Creates a missing list. */
function put(body: unknown, name: string, value: unknown): unknown {
  const path = name.split('.');
  const [first = ''] = path;
  const isNewList = fieldAt(first)?.kind === 'list' && ownValue(body, [first]) === undefined;
  return withAssignments(body, [...(isNewList ? [{ path: [first], value: [] }] : []), { path, value }]);
}

function valueOf({ name: path, value: text }: Setting, allowUnknown: boolean): unknown {
  const field = fieldAt(path);
  if (field === undefined && allowUnknown && path.split('.').every(looksLikeName)) return text;
  if (field === undefined) throw unknownPath(path);
  if (field.kind === 'flag') return flagOf(field, text);
  if (field.kind === 'number') return numberOf(field, text);
  const isBelowFree = field.kind === 'free' && BODY.members.get(path) === undefined;
  if (field.kind === 'text' || isBelowFree) return text;
  throw new SvcError('usage', `${field.path} is an object, not a value`, {
    hint: `Name one of its members, such as ${field.path}.${[...field.members.keys()][0] ?? (field.item ? '0.id' : 'name')}.`,
  });
}

function flagOf({ path }: Field, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new SvcError('usage', `${path} must be true or false`);
}

function numberOf({ path }: Field, text: string): number {
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text);
  throw new SvcError('usage', `${path} must be a number`);
}

function unknownPath(path: string): SvcError {
  const fieldPaths = fieldsBelow(BODY).map((field) => field.path);
  const meant = nearest(path, fieldPaths) ?? fieldPaths.find((name) => name.endsWith(`.${path}`));
  return new SvcError('usage', `unknown field ${typedWord(path, fieldPaths)}`, {
    hint: meant === undefined ? undefined : questionOf(meant),
    next: meant === undefined ? ['3ds', 'template', '<type>'] : undefined,
  });
}
