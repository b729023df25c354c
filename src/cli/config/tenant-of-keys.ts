import { createHmac, randomBytes } from 'node:crypto';
import type { TenantFacts } from '../../schema/tenant.ts';
import { knownTenant, rememberedKeys, writeTenantOf } from './cache.ts';
import type { Profile } from './config-format.ts';
import type { PathsHost } from './paths.ts';

/** A profile at a service, and the keys that it stores. */
export interface KeysOfProfile {
  readonly profile: string;
  readonly baseUrl: string;
  readonly keys: Profile['keys'];
}

/**
 * Returns the tenant of a profile as of its last check, if the profile has the same keys as then. An editor, `login --no-check`
 * or another config directory may have put the keys of another tenant in their place.
 */
export function tenantOfKeys(system: PathsHost, { profile, baseUrl, keys }: KeysOfProfile): TenantFacts | undefined {
  const noted = rememberedKeys(system, profile);
  return noted?.hash === hashOfKeys(keys, noted?.salt ?? '') ? knownTenant(system, profile, baseUrl) : undefined;
}

/** Stores the tenant that a check of these keys showed; a failure is ignored. */
export function rememberTenant(
  system: PathsHost,
  { profile, baseUrl, keys }: KeysOfProfile,
  tenant: TenantFacts,
): void {
  const salt = randomBytes(32).toString('hex');
  writeTenantOf(system, { profile, baseUrl, salt, hash: hashOfKeys(keys, salt) }, tenant);
}

// Without the random salt nobody could tell that two profiles have the same keys, and with it only somebody who has them.
function hashOfKeys(keys: Profile['keys'] = {}, salt: string): string {
  const { management, private: own } = keys;
  const parts = [management, own].map((key) => [key?.value ?? null, key?.command ?? null]);
  return createHmac('sha256', salt).update(JSON.stringify(parts)).digest('base64url');
}
