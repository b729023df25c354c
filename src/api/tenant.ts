import type { HttpCore } from '../http/core.ts';
import { path } from '../http/request.ts';
import type { Tenant as TenantRecord } from '../schema/tenant.ts';
import type { UsageReport } from '../schema/usage.ts';

/** The tenant that the management key belongs to. */
export class Tenant {
  readonly #core: HttpCore;

  constructor(core: HttpCore) {
    this.#core = core;
  }

  /** `GET /tenants/self`, permission tenant:read. */
  read(): Promise<TenantRecord> {
    return this.#core.call({
      method: 'GET',
      path: path`/tenants/self`,
      key: 'management',
      permission: 'tenant:read',
      subject: 'the tenant',
      shape: async () => (await import('../schema/tenant.ts')).tenantSchema,
    });
  }

  /**
   * `PUT /tenants/self`, permission tenant:update. The body replaces name and settings: a setting that it leaves out
   * may be lost.
   * @throws SvcError `outcome_unknown` when no clear answer came: the update may have taken effect
   */
  update(body: {
    readonly name: string;
    readonly settings?: Readonly<Record<string, unknown>> | undefined;
  }): Promise<TenantRecord> {
    return this.#core.call({
      method: 'PUT',
      path: path`/tenants/self`,
      body,
      key: 'management',
      permission: 'tenant:update',
      subject: 'updating the tenant',
      howToCheck: "See what the tenant holds now with 'svc tenant show' before you update it again.",
      shape: async () => (await import('../schema/tenant.ts')).tenantSchema,
    });
  }

  /**
   * `DELETE /tenants/self`, permission tenant:delete. Sent once and never again, whatever comes back.
   * @throws SvcError `outcome_unknown` when no clear answer came: the tenant may be gone
   */
  delete(): Promise<void> {
    return this.#core.call({
      method: 'DELETE',
      path: path`/tenants/self`,
      attempts: 1,
      key: 'management',
      permission: 'tenant:delete',
      subject: 'deleting the tenant',
      howToCheck: "See with 'svc tenant show' whether the tenant is still there.",
    });
  }

  /** `GET /tenants/self/reports/usage`, permission report:read. */
  usage(): Promise<UsageReport> {
    return this.#core.call({
      method: 'GET',
      path: path`/tenants/self/reports/usage`,
      key: 'management',
      permission: 'report:read',
      subject: 'the usage report',
      shape: async () => (await import('../schema/usage.ts')).usageReportSchema,
    });
  }
}
