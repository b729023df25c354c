// Checks the name and the settings of a tenant that are to be sent.

import { SvcError } from '../base/errors.ts';
import { containsCardNumber } from '../base/security/card-number.ts';
import { didYouMean } from '../base/security/typed-word.ts';
import { BOOLEAN_TENANT_SETTINGS, DEDUPLICATION_BEHAVIORS, MAX_TENANT_NAME_LENGTH } from '../schema/tenant.ts';

/**
 * Checks a new name of the tenant: not blank, at most 200 characters (code points), no control characters and no card
 * number.
 * @throws SvcError `usage` or `refused_input`, without the name
 */
export function checkTenantName(name: string): string {
  const length = Array.from(name).length;
  if (name.trim() === '') throw new SvcError('usage', 'the name of the tenant must not be empty');
  if (length > MAX_TENANT_NAME_LENGTH) {
    const limitText = `the name of the tenant must have at most ${MAX_TENANT_NAME_LENGTH} characters`;
    throw new SvcError('usage', `${limitText}; this one has ${length}`, { hint: 'Shorten it.' });
  }
  if (/[\p{Cc}\p{Cs}]/u.test(name))
    throw new SvcError('usage', 'the name of the tenant must not contain control characters');
  if (containsCardNumber(name, 'cell'))
    throw refusedValue(
      'the name of the tenant contains what looks like a card number',
      'Leave card data out of the name.',
    );
  return name;
}

/** The allowed values of each documented setting, as text, also for booleans. */
export const SETTING_VALUES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...BOOLEAN_TENANT_SETTINGS.map((name) => [name, ['true', 'false']] as const),
  ['token_deduplication_behavior', DEDUPLICATION_BEHAVIORS],
]);

/**
 * Checks the value of a setting. An unknown setting accepts any value without a card number.
 * @throws SvcError `usage` or `refused_input`, without the value
 */
export function checkSettingValue(name: string, value: string): void {
  const values = SETTING_VALUES.get(name);
  if (values === undefined) {
    if (!containsCardNumber(name, 'cell') && !containsCardNumber(value, 'cell')) return;
    throw refusedValue('a setting contains what looks like a card number', 'Leave card data out of settings.');
  }
  if (values.includes(value)) return;
  throw new SvcError('usage', `the setting ${name} must be ${values.join(' or ')}`, {
    hint: didYouMean(value, values),
  });
}

/** Returns the settings that neither svc nor the tenant knows. `onTenant` are the settings of the tenant. */
export function unknownSettings(names: Iterable<string>, onTenant: readonly string[]): string[] {
  return [...names].filter((name) => !SETTING_VALUES.has(name) && !onTenant.includes(name));
}

/** Returns the error for a value of a file or an option that must not be sent. */
export function refusedValue(message: string, hint = 'Fix the file and run the command again.'): SvcError {
  return new SvcError('refused_input', `${message}; nothing was sent`, { hint });
}
