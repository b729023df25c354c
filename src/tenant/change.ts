// Compares a tenant with a change, and merges the change into the tenant.

import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../base/errors.ts';
import { exactMembers } from '../base/json/exact.ts';
import { didYouMean, sentences, typedWord } from '../base/security/typed-word.ts';
import { describeTenant, factsOf } from '../cli/app/tenant-mark.ts';
import { isObject } from '../cli/output/view.ts';
import type { Tenant, TenantBody } from '../schema/tenant.ts';
import { UUID } from '../schema/uuid.ts';
import { SETTING_VALUES, unknownSettings } from './values.ts';

export interface TenantChange {
  readonly name: string | undefined;
  /** New values by setting. Other settings stay as they are. */
  readonly settings: ReadonlyMap<string, string>;
  /** Members of the file that only the service can set. The tenant must have the same values. */
  readonly expected: ReadonlyMap<string, unknown>;
  /** Returns the line of a member, if the change comes from a file. */
  readonly lineOf?: LineOf | undefined;
  /** The name of the file in messages, if the change comes from a file. */
  readonly file?: string | undefined;
}

export interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the line of a member in a file. */
export type LineOf = (path: readonly string[]) => number | undefined;

/** The members of a tenant that an update can change, of whatever type the service sent. */
export interface Changeable {
  readonly name: unknown;
  readonly settings?: unknown;
}

/** Returns the members of a tenant that an update can change, as the service sent them. Booleans become text. */
export function bodyOf(tenant: Tenant): Changeable {
  const { name, settings } = exactMembers(tenant);
  if (!isObject(settings)) return settings === undefined || settings === null ? { name } : { name, settings };
  const present = Object.entries(settings)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => [key, typeof value === 'boolean' ? String(value) : value]);
  return present.length === 0 ? { name } : { name, settings: Object.fromEntries(present) };
}

/**
 * Merges a change into a tenant, and returns the body of the update. Settings of the tenant that the change does not name are
 * kept. Settings that neither svc nor the tenant knows are added only with `allowUnknown`.
 * @throws SvcError `usage` for an unknown setting; `config` for a file about another tenant; `refused_input` for a file that
 * changes a read-only member; `conflict` for a file of an earlier state of the tenant; `bad_response` for a tenant whose name
 * or settings have an undocumented type
 */
export function mergeChange(tenant: Tenant, change: TenantChange, allowUnknown: boolean): TenantBody {
  checkMembers(tenant, change, '; nothing was changed');
  checkReadOnly(tenant, change);
  checkSettingNames(change, Object.keys(tenant.settings ?? {}), allowUnknown);
  const { name, settings } = mergedBody(tenant, change);
  if (typeof name !== 'string') throw unreadableMember('name', 'Give it with --name.');
  if (settings === undefined) return { name };
  if (!isObject(settings)) throw unreadableMember('settings', 'Report this to the service.');
  return { name, settings };
}

/**
 * Finds the differences between a tenant and a file, for the members that the file names. `before` is the tenant's value,
 * `after` the file's. A setting that only the file has is a difference too, since the tenant may have lost the setting.
 * @throws SvcError `config` for a file about another tenant, `usage` or `refused_input` for other unknown names in the file
 */
export function differencesFromFile(tenant: Tenant, change: TenantChange): FieldDifference[] {
  checkMembers(tenant, change, '');
  checkSettingNames(change, Object.keys(tenant.settings ?? {}), true);
  const facts = readOnlyDifferences(tenant, change).filter(({ path }) => !path.startsWith('modified_'));
  return [...facts, ...differences(bodyOf(tenant), mergedBody(tenant, change))];
}

/** The error for a member of an undocumented type. An update replaces the whole tenant, so the member would be lost. */
function unreadableMember(member: 'name' | 'settings', hint: string): SvcError {
  return new SvcError(
    'bad_response',
    `the service sent the ${member} of the tenant with another type than documented; nothing was changed`,
    { hint, next: ['tenant', 'show'] },
  );
}

function mergedBody(tenant: Tenant, change: TenantChange): Changeable {
  const current = bodyOf(tenant);
  const name = change.name ?? current.name;
  if (current.settings !== undefined && !isObject(current.settings)) return { name, settings: current.settings };
  const settings = { ...current.settings, ...Object.fromEntries(change.settings) };
  return Object.keys(settings).length === 0 ? { name } : { name, settings };
}

/** Finds the fields in which two tenants or bodies differ, setting by setting, regardless of order. */
export function differences(before: Changeable | Tenant, after: Changeable | Tenant): FieldDifference[] {
  const had = fieldsOf(before);
  const has = fieldsOf(after);
  return [...new Set([...had.keys(), ...has.keys()])]
    .map((path) => ({ path, before: had.get(path), after: has.get(path) }))
    .filter((field) => !isDeepStrictEqual(field.before, field.after));
}

function fieldsOf(tenant: Changeable | Tenant): Map<string, unknown> {
  const { settings, ...rest } = exactMembers(tenant);
  if (settings !== undefined && settings !== null && !isObject(settings))
    return new Map(Object.entries({ ...rest, settings }));
  const each = Object.entries(settings ?? {});
  return new Map([
    ...Object.entries(rest),
    ...each.map(([key, value]): [string, unknown] => [`settings.${key}`, value]),
  ]);
}

/** Describes a setting of a file that neither svc nor the tenant knows, with the setting that was probably meant. */
export function unknownSettingIn({ settings, lineOf }: TenantChange, tenant: Tenant): string | undefined {
  const onTenant = Object.keys(tenant.settings ?? {});
  const settingNames = [...SETTING_VALUES.keys(), ...onTenant];
  const unknown = unknownSettings(settings.keys(), onTenant);
  // A name that resembles another setting is probably misspelled; any other setting may have been lost by the tenant.
  const name = unknown.find((each) => didYouMean(each, settingNames) !== undefined) ?? unknown[0];
  if (name === undefined) return undefined;
  const what = `The tenant has no setting ${name}${inLine(lineOf?.(['settings', name]))}, and svc does not know it.`;
  return sentences(what, didYouMean(name, settingNames));
}

/** The form of the name of an unknown setting. */
const SETTING_NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** @throws SvcError `usage` for a setting that neither svc nor the tenant knows, unless `allowUnknown` */
function checkSettingNames({ settings, lineOf }: TenantChange, onTenant: readonly string[], allowUnknown: boolean) {
  const unknown = unknownSettings(settings.keys(), onTenant);
  const name = unknown.find((one) => !allowUnknown || !SETTING_NAME.test(one));
  if (name === undefined) return;
  const all = [...new Set([...SETTING_VALUES.keys(), ...onTenant])];
  const where = inLine(lineOf?.(['settings', name]));
  throw new SvcError('usage', `unknown setting ${typedWord(name, all)}${where}; nothing was sent`, {
    hint: sentences(didYouMean(name, all), `The tenant knows: ${all.join(', ')}.`),
  });
}

/** Returns the line of a member as the end of a sentence; empty if the change does not come from a file. */
export function inLine(line: number | undefined): string {
  return line === undefined ? '' : ` (line ${line})`;
}

/** Members of a tenant that only the service sets. */
const READ_ONLY = ['id', 'owner_id', 'type', 'created_by', 'created_at', 'modified_by', 'modified_at'];

/** Checks that a file is about this tenant, and has only members that a tenant has. */
function checkMembers(tenant: Tenant, { expected, lineOf, file = 'the file' }: TenantChange, effect: string): void {
  const known = [...Object.keys(tenant), ...READ_ONLY];
  const unknown = [...expected.keys()].find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const what = `${typedWord(unknown, known)} in the file${inLine(lineOf?.([unknown]))}`;
    throw new SvcError('refused_input', `${what} is not a member of the tenant${effect}`, {
      hint: sentences(didYouMean(unknown, ['name', 'settings', ...known]), CHANGEABLE),
    });
  }
  const id = expected.get('id');
  if (!expected.has('id') || id === tenant.id) return;
  // A text that is not a UUID may be a secret.
  const other = typeof id === 'string' && UUID.test(id) ? ` (${id})` : '';
  const own = `the ${describeTenant(factsOf(tenant))} (${tenant.id})`;
  throw new SvcError('config', `${file} is about another tenant${other}; this key belongs to ${own}${effect}`, {
    hint: 'Check the profile and the file: the key decides which tenant it is.',
    facts: { tenant: tenant.id },
  });
}

const CHANGEABLE = 'Only name and settings can be changed.';

/** Checks the read-only members of a file, which must have the tenant's values. */
function checkReadOnly(tenant: Tenant, change: TenantChange): void {
  const names = readOnlyDifferences(tenant, change).map(({ path }) => path);
  if (names.length === 0) return;
  const differing = names.join(', ');
  if (names.every((key) => key.startsWith('modified_')))
    throw new SvcError('conflict', `the tenant changed since the file was made from it (${differing})`, {
      hint: 'Make the file again from the present tenant, or leave these members out of it.',
    });
  throw new SvcError('refused_input', `the file differs in what cannot be changed: ${differing}; nothing was changed`, {
    hint: `Check the profile and the file. ${CHANGEABLE}`,
  });
}

/** Finds the read-only members in which a file differs from the tenant. Such a file cannot update the tenant. */
export function readOnlyDifferences(tenant: Tenant, { expected }: TenantChange): FieldDifference[] {
  const exact = new Map(Object.entries(exactMembers(tenant)));
  // The numbers of a file are plain, so they are compared with plain numbers.
  const plain = new Map<string, unknown>(Object.entries(tenant));
  return [...expected]
    .filter(([path, after]) => !isDeepStrictEqual(plain.get(path) ?? null, after ?? null))
    .map(([path, after]) => ({ path, before: exact.get(path), after }));
}
