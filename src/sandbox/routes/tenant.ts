import { tenantSchema, type Tenant } from '../../schema/tenant.ts';
import { ownerId, tenantId } from '../seed/entities.ts';
import type { World } from '../state/world.ts';
import { isoTime } from '../time.ts';
import type { ApiRoute, Call } from './route.ts';

/** Endpoints of the tenant. */
export const TENANT_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/tenants/self',
    summary: 'Read the tenant',
    kind: 'management',
    permission: 'tenant:read',
    response: tenantSchema,
    status: 200,
    handle: readTenant,
  },
];

function readTenant({ service, audit }: Call): Tenant {
  const tenant = tenantOf(service.state.world);
  audit({ entityType: 'tenant', entityId: tenant.id, operation: 'read', message: 'Tenant read' });
  return tenant;
}

const YEAR_MS = 365 * 24 * 3_600_000;

function tenantOf({ start }: World): Tenant {
  return {
    id: tenantId(start.seed),
    owner_id: ownerId(start.seed),
    type: 'test',
    name: 'Sandbox',
    settings: {
      fingerprint_tokens: 'true',
      disable_ephemeral_proxy: 'false',
      deduplicate_tokens: 'false',
      token_deduplication_behavior: 'read_existing',
    },
    created_by: ownerId(start.seed),
    created_at: isoTime(start.at - YEAR_MS),
  };
}
