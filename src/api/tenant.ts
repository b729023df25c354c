import type { HttpCore } from '../http/core.ts';
import { type ApiRequest, path } from '../http/request.ts';
import type { Tenant as TenantRecord, UsageReport } from '../schema/tenant.ts';

/** What replaces a tenant's name and settings. */
export interface TenantUpdate {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** The tenant that the management key belongs to. */
export class Tenant {
  readonly #core: HttpCore;

  constructor(core: HttpCore) {
    this.#core = core;
  }

  /** `GET /tenants/self`, permission tenant:read. */
  read(): Promise<TenantRecord> {
    return this.#core.call(readTenantRequest());
  }

  /**
   * `PUT /tenants/self`, permission tenant:update. The body replaces name and settings: a setting that it leaves out
   * may be lost.
   * @throws SvcError `outcome_unknown` when no clear answer came: the update may have taken effect
   */
  update(body: TenantUpdate): Promise<TenantRecord> {
    return this.#core.call(updateTenantRequest(body));
  }

  /**
   * `DELETE /tenants/self`, permission tenant:delete. Sent once and never again, whatever comes back.
   * @throws SvcError `outcome_unknown` when no clear answer came: the tenant may be gone
   */
  delete(): Promise<void> {
    return this.#core.call(deleteTenantRequest());
  }

  /** `GET /tenants/self/reports/usage`, permission report:read. */
  usage(): Promise<UsageReport> {
    return this.#core.call(usageRequest());
  }
}

export function readTenantRequest(): ApiRequest<TenantRecord> {
  return {
    method: 'GET',
    path: path`/tenants/self`,
    key: 'management',
    permission: 'tenant:read',
    subject: 'the tenant',
    shape: async () => (await import('../schema/tenant.ts')).tenantSchema,
  };
}

export function updateTenantRequest(body: TenantUpdate): ApiRequest<TenantRecord> {
  return {
    method: 'PUT',
    path: path`/tenants/self`,
    body,
    key: 'management',
    permission: 'tenant:update',
    subject: 'updating the tenant',
    howToCheck: "See what the tenant holds now with 'svc tenant show' before you update it again.",
    shape: async () => (await import('../schema/tenant.ts')).tenantSchema,
  };
}

export function deleteTenantRequest(): ApiRequest<void> {
  return {
    method: 'DELETE',
    path: path`/tenants/self`,
    attempts: 1,
    key: 'management',
    permission: 'tenant:delete',
    subject: 'deleting the tenant',
    howToCheck: "See with 'svc tenant show' whether the tenant is still there.",
  };
}

export function usageRequest(): ApiRequest<UsageReport> {
  return {
    method: 'GET',
    path: path`/tenants/self/reports/usage`,
    key: 'management',
    permission: 'report:read',
    subject: 'the usage report',
    shape: async () => (await import('../schema/tenant.ts')).usageReportSchema,
  };
}
