import { SvcError } from '../errors.ts';
import { MAX_TENANT_NAME_LENGTH } from '../schema/tenant.ts';

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
