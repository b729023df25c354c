import { tenantSchema, tenantUpdateSchema, type Tenant } from '../../schema/tenant.ts';
import { usageReportSchema, type UsageReport } from '../../schema/usage.ts';
import { tenantView } from '../tenant/tenant-view.ts';
import { usageReport } from '../tenant/usage.ts';
import { checkBody } from '../validate.ts';
import type { ApiRoute, Call } from './route.ts';

/** Endpoints of the tenant. */
export const TENANT_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/tenants/self',
    summary: 'Read the tenant',
    kind: 'management',
    permission: 'tenant:read',
    audit: { entityType: 'tenant', noun: 'Tenant', operation: 'read' },
    response: tenantSchema,
    status: 200,
    handle: ({ service }): Tenant => tenantView(service.state.world),
  },
  {
    method: 'PUT',
    path: '/tenants/self',
    summary: 'Update the tenant: name and settings are replaced',
    kind: 'management',
    permission: 'tenant:update',
    audit: { entityType: 'tenant', noun: 'Tenant', operation: 'update' },
    request: tenantUpdateSchema,
    response: tenantSchema,
    status: 200,
    handle: updateTenant,
  },
  {
    method: 'DELETE',
    path: '/tenants/self',
    summary: 'Delete the tenant',
    kind: 'management',
    permission: 'tenant:delete',
    audit: { entityType: 'tenant', noun: 'Tenant', operation: 'delete' },
    status: 204,
    handle: deleteTenant,
  },
  {
    method: 'GET',
    path: '/tenants/self/reports/usage',
    summary: 'Read the usage report',
    kind: 'management',
    permission: 'report:read',
    audit: { entityType: 'tenant', noun: 'Usage report', operation: 'read' },
    response: usageReportSchema,
    status: 200,
    handle: ({ service, now }): UsageReport => usageReport(service.state.world, now),
  },
];

async function updateTenant({ service, key, now, json }: Call): Promise<Tenant> {
  const { name, settings } = checkBody(tenantUpdateSchema, known(await json()));
  const world = service.state.record({
    type: 'tenant',
    at: now,
    application: key.application,
    name,
    settings: { ...settings },
  });
  return tenantView(world);
}

// From here on every key of the tenant is as good as unknown, until the sandbox is reset.
function deleteTenant({ service, key, now }: Call): void {
  service.state.record({ type: 'tenant-deleted', at: now, application: key.application });
}

// The interface does not say what becomes of other members: like most services, this one lets them pass.
function known(body: unknown): { name?: unknown; settings?: unknown } {
  if (typeof body !== 'object' || body === null) return {};
  return {
    ...('name' in body && { name: body.name }),
    ...('settings' in body && { settings: body.settings }),
  };
}
