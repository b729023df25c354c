import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Tenant } from '../schema/tenant.ts';

/** Members of a tenant that only the service sets. */
const READ_ONLY = ['id', 'owner_id', 'type', 'created_by', 'created_at', 'modified_by', 'modified_at'];

/**
 * Checks what a file says of members that cannot be changed. An answer may be edited and sent back, so they may be
 * there, but as the tenant has them.
 * @throws SvcError `refused_input` for a file about another tenant or with members that no tenant has, `changed` for
 * one made from an earlier state of this tenant
 */
export function checkExpected(tenant: Tenant, expected: ReadonlyMap<string, unknown>): void {
  const present = new Map<string, unknown>(Object.entries(tenant));
  const unknown = [...expected.keys()].find((key) => !present.has(key) && !READ_ONLY.includes(key));
  if (unknown !== undefined) throw unknownMember(unknown, [...present.keys(), ...READ_ONLY]);
  const names = [...expected]
    .filter(([key, value]) => !isDeepStrictEqual(present.get(key) ?? null, value ?? null))
    .map(([key]) => key);
  if (names.length === 0) return;
  if (names.every((key) => key.startsWith('modified_'))) {
    throw new SvcError(
      'changed',
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
