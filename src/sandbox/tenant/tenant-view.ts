import type { Tenant, TENANT_TYPES } from '../../schema/tenant.ts';
import { applicationId, ownerId, tenantId } from '../seed/entities.ts';
import type { World } from '../state/world.ts';
import { isoTime } from '../time.ts';

/** What a sandbox's tenant can be. */
export type TenantType = (typeof TENANT_TYPES)[number];

const YEAR_MS = 365 * 24 * 3_600_000;

/** The tenant as the service answers it. */
export function tenantView({ start, tenantChanges }: World): Tenant {
  const change = tenantChanges.at(-1);
  return {
    id: tenantId(start.seed),
    owner_id: ownerId(start.seed),
    type: start.tenantType ?? 'test',
    name: change?.name ?? 'Sandbox',
    settings: { ...(change?.settings ?? FIRST_SETTINGS) },
    created_by: ownerId(start.seed),
    created_at: isoTime(start.at - YEAR_MS),
    ...(change !== undefined && {
      modified_by: applicationId(start.seed, change.application),
      modified_at: isoTime(change.at),
    }),
  };
}

const FIRST_SETTINGS = {
  fingerprint_tokens: 'true',
  disable_ephemeral_proxy: 'false',
  deduplicate_tokens: 'false',
  token_deduplication_behavior: 'read_existing',
};
