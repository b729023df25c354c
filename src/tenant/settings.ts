import { SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { BOOLEAN_TENANT_SETTINGS, DEDUPLICATION_BEHAVIORS } from '../schema/tenant.ts';

/** The values that each known setting takes, as the service takes them: texts, also for booleans. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...BOOLEAN_TENANT_SETTINGS.map((name) => [name, ['true', 'false']] as const),
  ['token_deduplication_behavior', DEDUPLICATION_BEHAVIORS],
]);

/** Checks the value of a known setting; any value of an unknown one passes. Throws `usage`, without the value. */
export function checkSettingValue(name: string, value: string): void {
  const values = KNOWN.get(name);
  if (values === undefined || values.includes(value)) return;
  const meant = nearest(value, values);
  throw new SvcError('usage', `the setting ${name} must be ${values.join(' or ')}`, {
    hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
  });
}

/** Refuses a name that is neither known nor on the tenant: `usage`. It is repeated only where a known one is near. */
export function checkSettingNames(names: Iterable<string>, onTenant: readonly string[]): void {
  const all = [...new Set([...KNOWN.keys(), ...onTenant])];
  for (const name of names) {
    if (all.includes(name)) continue;
    const meant = nearest(name, all);
    const what = meant === undefined ? 'a setting that was given' : `"${name}"`;
    const known = `The tenant knows: ${all.join(', ')}.`;
    throw new SvcError('usage', `${what} is not a setting of the tenant; nothing was sent`, {
      hint: meant === undefined ? known : `Did you mean "${meant}"? ${known}`,
    });
  }
}
