import { isDeepStrictEqual } from 'node:util';
import type { Tenant } from '../schema/tenant.ts';

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
