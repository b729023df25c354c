// Reads a change of a tenant from a file.

import { isSvcError, SvcError } from '../base/errors.ts';
import { isObject } from '../cli/output/view.ts';
import { type Changeable, inLine, type LineOf, type TenantChange } from './change.ts';
import { checkSettingValue, checkTenantName, refusedValue } from './values.ts';

/** A file with a tenant, or a part of one. */
interface TenantFile {
  readonly name: string;
  readonly value: unknown;
  readonly lineOf: LineOf;
}

/**
 * Reads a change from a file with a tenant, or with some members of a tenant.
 * @throws SvcError `refused_input` for any other content, also for a file without members
 */
export function changeFromFile({ name: file, value, lineOf }: TenantFile): TenantChange {
  const { name: nameOrNull, settings, ...expected } = objectIn(value, 'the file');
  // A tenant without a name may have been written as null, and the name stays as it is.
  const name = nameOrNull ?? undefined;
  if (name !== undefined && typeof name !== 'string')
    throw refusedValue(`name must be a string${inLine(lineOf(['name']))}`);
  const each = Object.entries(objectIn(settings ?? {}, 'settings'));
  const change: TenantChange = {
    name: name === undefined ? undefined : asInput(() => checkTenantName(name), lineOf(['name'])),
    settings: new Map(each.flatMap((one) => settingIn(one, lineOf(['settings', one[0]])))),
    expected: new Map(Object.entries(expected)),
    lineOf,
    file,
  };
  if (change.name !== undefined || change.settings.size + change.expected.size > 0) return change;
  throw new SvcError('refused_input', `${file} names nothing to compare: no name, no setting and no other member`, {
    hint: "Name what the tenant should have, as 'svc tenant export' does.",
    next: ['tenant', 'export'],
  });
}

/**
 * Splits the members of a tenant that an update can change: those that a file can have, and the names of the others, which
 * the service sent with another type or value than documented.
 */
export function membersForFile({ name, settings }: Changeable): {
  readonly members: object;
  readonly leftOut: string[];
} {
  const all = Object.entries(isObject(settings) ? settings : {});
  const texts = all.filter(([key, value]) => isAccepted({ settings: { [key]: value } }));
  const isNamed = isAccepted({ name });
  const members = { ...(isNamed && { name }), ...(texts.length > 0 && { settings: Object.fromEntries(texts) }) };
  const others = all.filter((setting) => !texts.includes(setting)).map(([key]) => `settings.${key}`);
  const wrong = settings === undefined || isObject(settings) ? others : ['settings'];
  return { members, leftOut: [...(isNamed || name === null || name === undefined ? [] : ['name']), ...wrong] };
}

function isAccepted(value: object): boolean {
  try {
    changeFromFile({ name: 'the tenant', value, lineOf: () => undefined });
    return true;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return false;
  }
}

function settingIn([name, value]: [string, unknown], line: number | undefined): [name: string, text: string][] {
  // An exported file may have settings without a value, which stay as they are.
  if (value === null) return [];
  if (typeof value !== 'string' && typeof value !== 'boolean')
    throw refusedValue(`settings.${name} must be a string, true or false${inLine(line)}`);
  asInput(() => checkSettingValue(name, String(value)), line);
  return [[name, String(value)]];
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw refusedValue(`${what} must be an object`);
}

/** Turns a usage error of `check` into refused input, for values from a file. */
function asInput<T>(check: () => T, line?: number): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const text = error.message.replace(/; nothing was sent$/, '');
    const { code, message, hint } = refusedValue(text + inLine(line), error.hint);
    throw error.with({ code, message, hint });
  }
}
