import { SvcError } from '../errors.ts';
import { isObject } from '../schema/guards.ts';
import { MAX_TENANT_NAME_LENGTH } from '../schema/tenant.ts';
import { checkSettingValue, type TenantChange } from './change.ts';

/** Reads a change from JSON: a tenant or a part of one. Throws `refused_input` for all else, before any request. */
export function changeFromJson(json: unknown): TenantChange {
  const { name, settings, ...expected } = objectIn(json, 'the file');
  if (name !== undefined && typeof name !== 'string') throw refused('name must be a string');
  return {
    name: name === undefined ? undefined : asInput(() => checkTenantName(name)),
    settings: new Map(settings === undefined || settings === null ? [] : settingsIn(settings)),
    expected: new Map(Object.entries(expected)),
  };
}

function settingsIn(settings: unknown): [name: string, text: string][] {
  return Object.entries(objectIn(settings, 'settings')).flatMap(([name, value]): [string, string][] => {
    // A tenant as answered may have settings without a value: they stay as they are.
    if (value === null) return [];
    if (typeof value !== 'string' && typeof value !== 'boolean')
      throw refused(`settings.${name} must be a string, true or false`);
    asInput(() => checkSettingValue(name, String(value)));
    return [[name, String(value)]];
  });
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

/** Checks a new name of the tenant: not blank, at most 200 characters (code points), none of them a control. */
export function checkTenantName(name: string): string {
  const length = Array.from(name).length;
  if (name.trim() === '') throw new SvcError('usage', 'the name of the tenant must not be empty');
  if (length > MAX_TENANT_NAME_LENGTH) {
    throw new SvcError(
      'usage',
      `the name of the tenant must have at most ${MAX_TENANT_NAME_LENGTH} characters; this one has ${length}`,
      { hint: 'Shorten it.' },
    );
  }
  if (/[\p{Cc}\p{Cs}]/u.test(name))
    throw new SvcError('usage', 'the name of the tenant must not hold control characters');
  return name;
}
