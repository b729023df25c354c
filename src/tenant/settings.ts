import { containsCardNumber } from '../card-number.ts';
import { SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { typedWord } from '../security/typed-word.ts';
import { BOOLEAN_TENANT_SETTINGS, DEDUPLICATION_BEHAVIORS } from '../schema/tenant.ts';

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
export function checkSettingNames(
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
