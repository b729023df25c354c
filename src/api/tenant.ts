import type { HttpCore } from '../http/core.ts';
import { path } from '../http/request.ts';
import { type Tenant as TenantRecord, tenantSchema } from '../schema/tenant.ts';

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
      shape: tenantSchema,
    });
  }
}
