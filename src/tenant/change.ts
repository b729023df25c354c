import { isDeepStrictEqual } from 'node:util';
import type { Tenant } from '../schema/tenant.ts';
import { checkExpected } from './expected.ts';
import { checkSettingNames } from './settings.ts';

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
 * tenant, `changed` for a file made from an earlier state of this one
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
