import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../errors.ts';
import { BOOLEAN_TENANT_SETTINGS, DEDUPLICATION_BEHAVIORS, type Tenant } from '../schema/tenant.ts';
import { containsCardNumber } from '../security/card-number.ts';
import { nearest, typedWord } from '../security/typed-word.ts';

/** What is to become of a tenant. */
export interface TenantChange {
  readonly name: string | undefined;
  /** Texts by setting; settings that are not named here stay. */
  readonly settings: ReadonlyMap<string, string>;
  /** What a file says of members that only the service sets: they must be as the tenant has them. */
  readonly expected: ReadonlyMap<string, unknown>;
}

/** The body of PUT /tenants/self. It replaces the tenant, so it holds all that is to stay. */
export interface TenantBody {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** One field that differs; absent values are undefined. */
export interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The tenant as a body that changes nothing. Settings that it answers as booleans go out as texts. */
export function bodyOf({ name, settings }: Pick<Tenant, 'name' | 'settings'>): TenantBody {
  const present = Object.entries(settings ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (present.length === 0) return { name };
  return { name, settings: Object.fromEntries(present.map(([key, value]) => [key, sent(value)])) };
}

/**
 * The tenant with the change merged in; settings that are not named, known or not, are kept. New ones are added where
 * unknown names are allowed.
 * @throws SvcError `usage` for a setting that the tenant does not know; `refused_input` for a file about another
 * tenant, `conflict` for a file made from an earlier state of this one
 */
export function merged(tenant: Tenant, change: TenantChange, allowUnknown: boolean): TenantBody {
  checkExpected(tenant, change.expected);
  const current = bodyOf(tenant);
  checkSettingNames(change.settings.keys(), Object.keys(tenant.settings ?? {}), allowUnknown);
  const settings = { ...current.settings, ...Object.fromEntries(change.settings) };
  const name = change.name ?? current.name;
  return Object.keys(settings).length === 0 ? { name } : { name, settings };
}

/** The fields in which two bodies differ: the name, then settings in the order of the first, then new ones. */
export function differences(before: TenantBody, after: TenantBody): FieldDifference[] {
  const [had, has] = [new Map(fieldsOf(before)), new Map(fieldsOf(after))];
  return [...new Set([...had.keys(), ...has.keys()])]
    .map((path) => ({ path, before: had.get(path), after: has.get(path) }))
    .filter((field) => !isDeepStrictEqual(field.before, field.after));
}

function fieldsOf({ name, settings = {} }: TenantBody): [path: string, value: unknown][] {
  const below = Object.entries(settings).map(([key, value]): [string, unknown] => [`settings.${key}`, value]);
  return [['name', name], ...below];
}

// The interface promises texts. What is neither text nor boolean is not ours to alter.
function sent(value: unknown): unknown {
  return typeof value === 'boolean' ? String(value) : value;
}

/** Members of a tenant that only the service sets. */
const READ_ONLY = ['id', 'owner_id', 'type', 'created_by', 'created_at', 'modified_by', 'modified_at'];

/**
 * Checks what a file says of members that cannot be changed. An answer may be edited and sent back, so they may be
 * there, but as the tenant has them.
 * @throws SvcError `refused_input` for a file about another tenant or with members that no tenant has, `conflict` for
 * one made from an earlier state of this tenant
 */
function checkExpected(tenant: Tenant, expected: ReadonlyMap<string, unknown>): void {
  const present = new Map<string, unknown>(Object.entries(tenant));
  const unknown = [...expected.keys()].find((key) => !present.has(key) && !READ_ONLY.includes(key));
  if (unknown !== undefined) throw unknownMember(unknown, [...present.keys(), ...READ_ONLY]);
  const names = [...expected]
    .filter(([key, value]) => !isDeepStrictEqual(present.get(key) ?? null, value ?? null))
    .map(([key]) => key);
  if (names.length === 0) return;
  if (names.every((key) => key.startsWith('modified_'))) {
    throw new SvcError(
      'conflict',
      `the tenant changed since the file was made from it (${names.join(', ')})`,
      {
        hint: "Make the file again from 'svc tenant show -o json', or leave these members out of it.",
      },
    );
  }
  throw new SvcError(
    'refused_input',
    `the file is not about this tenant: ${names.join(', ')} differ; nothing was changed`,
    {
      hint: 'Check the profile and the file. Only name and settings can be changed; leave other members out.',
    },
  );
}

function unknownMember(key: string, known: readonly string[]): SvcError {
  const meant = nearest(key, ['name', 'settings', ...known]);
  const hint = 'Only name and settings can be changed.';
  return new SvcError(
    'refused_input',
    `"${key}" in the file is not a member of the tenant; nothing was changed`,
    {
      hint: meant === undefined ? hint : `Did you mean "${meant}"? ${hint}`,
    },
  );
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
  if (values === undefined) return refuseCardNumber(name, value);
  if (values.includes(value)) return;
  const meant = nearest(value, values);
  throw new SvcError('usage', `the setting ${name} must be ${values.join(' or ')}`, {
    hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
  });
}

function refuseCardNumber(...texts: readonly string[]): void {
  if (!texts.some((text) => containsCardNumber(text, 'cell'))) return;
  throw new SvcError('refused_input', 'a setting holds what looks like a card number; nothing was sent', {
    hint: 'Settings are no place for card data: leave it out.',
  });
}

/** The names that are neither known nor on the tenant. */
export function unknownSettings(names: Iterable<string>, onTenant: readonly string[]): string[] {
  return [...names].filter((name) => !KNOWN.has(name) && !onTenant.includes(name));
}

/**
 * Refuses names that are neither known nor on the tenant, unless these are allowed.
 * @throws SvcError `usage`
 */
function checkSettingNames(
  names: Iterable<string>,
  onTenant: readonly string[],
  allowUnknown: boolean,
): void {
  const refused = unknownSettings(names, onTenant).find((name) => !allowUnknown || !NAME.test(name));
  if (refused === undefined) return;
  const all = [...new Set([...KNOWN.keys(), ...onTenant])];
  const meant = nearest(refused, all);
  const known = `The tenant knows: ${all.join(', ')}.`;
  throw new SvcError('usage', `unknown setting ${typedWord(refused, all)}; nothing was sent`, {
    hint: meant === undefined ? known : `Did you mean "${meant}"? ${known}`,
  });
}

/** What a setting that is not known may be called. */
const NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** Paths of the fields in which two readings of a tenant differ, whatever the order of their members. */
export function changedFields(before: Tenant, now: Tenant): string[] {
  const [had, has] = [flat(before), flat(now)];
  const paths = [...new Set([...had.keys(), ...has.keys()])];
  return paths.filter((path) => !isDeepStrictEqual(had.get(path), has.get(path)));
}

// Settings one by one, everything else whole.
function flat(tenant: Tenant): Map<string, unknown> {
  const { settings, ...rest } = tenant;
  const below = Object.entries(settings ?? {}).map(([key, value]): [string, unknown] => [
    `settings.${key}`,
    value,
  ]);
  return new Map([...Object.entries(rest), ...below]);
}
