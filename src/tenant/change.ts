import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../errors.ts';
import { isObject } from '../schema/guards.ts';
import {
  BOOLEAN_TENANT_SETTINGS,
  DEDUPLICATION_BEHAVIORS,
  MAX_TENANT_NAME_LENGTH,
  type Tenant,
} from '../schema/tenant.ts';
import { containsCardNumber } from '../security/card-number.ts';
import { nearest, typedWord } from '../security/typed-word.ts';

export interface TenantChange {
  readonly name: string | undefined;
  /** Texts by setting; settings that are not named here stay. */
  readonly settings: ReadonlyMap<string, string>;
  /** What a file says of members that only the service sets: the tenant must have them so. */
  readonly expected: ReadonlyMap<string, unknown>;
}

/** The body of PUT /tenants/self. It replaces the tenant, so it holds all that is to stay. */
export interface TenantBody {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

export interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The tenant as a body that changes nothing. Settings that are read as booleans are sent as texts. */
export function bodyOf({ name, settings }: Pick<Tenant, 'name' | 'settings'>): TenantBody {
  const present = Object.entries(settings ?? {})
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => [key, typeof value === 'boolean' ? String(value) : value]);
  return present.length === 0 ? { name } : { name, settings: Object.fromEntries(present) };
}

/**
 * The tenant with the change merged in; settings that are not named, known or not, are kept. New ones are added where
 * unknown names are allowed.
 * @throws SvcError `usage` for a setting that the tenant does not know; `refused_input` for a file about another
 * tenant, `conflict` for a file made from an earlier state of this one
 */
export function merged(tenant: Tenant, change: TenantChange, allowUnknown: boolean): TenantBody {
  checkExpected(tenant, change.expected);
  checkSettingNames(change.settings.keys(), Object.keys(tenant.settings ?? {}), allowUnknown);
  const current = bodyOf(tenant);
  const settings = { ...current.settings, ...Object.fromEntries(change.settings) };
  const name = change.name ?? current.name;
  return Object.keys(settings).length === 0 ? { name } : { name, settings };
}

/** The fields in which two tenants or bodies differ, each setting on its own, whatever the order of their members. */
export function differences(before: TenantBody | Tenant, after: TenantBody | Tenant): FieldDifference[] {
  const [had, has] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...had.keys(), ...has.keys()])]
    .map((path) => ({ path, before: had.get(path), after: has.get(path) }))
    .filter((field) => !isDeepStrictEqual(field.before, field.after));
}

function fieldsOf({ settings, ...rest }: TenantBody | Tenant): Map<string, unknown> {
  const each = Object.entries(settings ?? {});
  return new Map([
    ...Object.entries(rest),
    ...each.map(([key, value]): [string, unknown] => [`settings.${key}`, value]),
  ]);
}

/** Reads a change from JSON: a tenant or a part of one. Throws `refused_input` for all else, before any request. */
export function changeFromJson(json: unknown): TenantChange {
  const { name, settings, ...expected } = objectIn(json, 'the file');
  if (name !== undefined && typeof name !== 'string') throw refused('name must be a string');
  return {
    name: name === undefined ? undefined : asInput(() => checkTenantName(name)),
    settings: new Map(Object.entries(objectIn(settings ?? {}, 'settings')).flatMap(settingIn)),
    expected: new Map(Object.entries(expected)),
  };
}

function settingIn([name, value]: [string, unknown]): [name: string, text: string][] {
  // A tenant as sent by the service may have settings without a value: they stay.
  if (value === null) return [];
  if (typeof value !== 'string' && typeof value !== 'boolean')
    throw refused(`settings.${name} must be a string, true or false`);
  asInput(() => checkSettingValue(name, String(value)));
  return [[name, String(value)]];
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw refused(`${what} must be a JSON object`);
}

function refused(message: string, hint = 'Fix the file and run the command again.'): SvcError {
  return new SvcError('refused_input', `${message}; nothing was sent`, { hint });
}

/** A usage error on the command line is refused input in a file. */
function asInput<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof SvcError ? refused(error.message, error.hint) : error;
  }
}

/** Checks a new name of the tenant: not blank, at most 200 characters (code points), no control characters. */
export function checkTenantName(name: string): string {
  const length = Array.from(name).length;
  if (name.trim() === '') throw new SvcError('usage', 'the name of the tenant must not be empty');
  if (length > MAX_TENANT_NAME_LENGTH) {
    const most = `the name of the tenant must have at most ${MAX_TENANT_NAME_LENGTH} characters`;
    throw new SvcError('usage', `${most}; this one has ${length}`, { hint: 'Shorten it.' });
  }
  if (/[\p{Cc}\p{Cs}]/u.test(name))
    throw new SvcError('usage', 'the name of the tenant must not contain control characters');
  return name;
}

/** The values that each known setting takes, as the service takes them: texts, also for booleans. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...BOOLEAN_TENANT_SETTINGS.map((name) => [name, ['true', 'false']] as const),
  ['token_deduplication_behavior', DEDUPLICATION_BEHAVIORS],
]);

/**
 * Checks the value of a known setting; any value of an unknown one passes that holds no card number.
 * @throws SvcError `usage` or `refused_input`, without the value
 */
export function checkSettingValue(name: string, value: string): void {
  const values = KNOWN.get(name);
  if (values === undefined) {
    if (!containsCardNumber(name, 'cell') && !containsCardNumber(value, 'cell')) return;
    throw refused('a setting contains what looks like a card number', 'Leave card data out of settings.');
  }
  if (values.includes(value)) return;
  const meant = nearest(value, values);
  throw new SvcError('usage', `the setting ${name} must be ${values.join(' or ')}`, {
    hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
  });
}

export function unknownSettings(names: Iterable<string>, onTenant: readonly string[]): string[] {
  return [...names].filter((name) => !KNOWN.has(name) && !onTenant.includes(name));
}

/** What a setting that is not known may be called. */
const SETTING_NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** @throws SvcError `usage` for names that are neither known nor on the tenant, unless these are allowed */
function checkSettingNames(names: Iterable<string>, onTenant: readonly string[], allowUnknown: boolean): void {
  const unknown = unknownSettings(names, onTenant);
  const name = unknown.find((one) => !allowUnknown || !SETTING_NAME.test(one));
  if (name === undefined) return;
  const all = [...new Set([...KNOWN.keys(), ...onTenant])];
  throw new SvcError('usage', `unknown setting ${typedWord(name, all)}; nothing was sent`, {
    hint: `${didYouMean(name, all)}The tenant knows: ${all.join(', ')}.`,
  });
}

/** Members of a tenant that only the service sets. */
const READ_ONLY = ['id', 'owner_id', 'type', 'created_by', 'created_at', 'modified_by', 'modified_at'];
const CHANGEABLE = 'Only name and settings can be changed.';

/**
 * Checks what a file says of members that cannot be changed. A tenant may be read, edited and sent back, so they may
 * be there, but must be as the tenant has them.
 */
function checkExpected(tenant: Tenant, expected: ReadonlyMap<string, unknown>): void {
  const present = new Map<string, unknown>(Object.entries(tenant));
  const known = [...present.keys(), ...READ_ONLY];
  const unknown = [...expected.keys()].find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new SvcError('refused_input', `"${unknown}" in the file is not a member of the tenant; nothing was changed`, {
      hint: didYouMean(unknown, ['name', 'settings', ...known]) + CHANGEABLE,
    });
  }
  const names = [...expected]
    .filter(([key, value]) => !isDeepStrictEqual(present.get(key) ?? null, value ?? null))
    .map(([key]) => key);
  if (names.length === 0) return;
  const differing = names.join(', ');
  if (names.every((key) => key.startsWith('modified_'))) {
    throw new SvcError('conflict', `the tenant changed since the file was made from it (${differing})`, {
      hint: 'Make the file again from the present tenant, or leave these members out of it.',
    });
  }
  throw new SvcError('refused_input', `the file is not about this tenant: ${differing} differ; nothing was changed`, {
    hint: `Check the profile and the file. ${CHANGEABLE}`,
  });
}

function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : `Did you mean "${meant}"? `;
}
