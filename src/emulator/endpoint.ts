import type { AuditSubject } from './audit.ts';
import type { Permission, SandboxKey } from './keys.ts';
import type { Params } from './router.ts';
import type { Service } from './service.ts';

/** A request, for the handler of its endpoint. */
export interface Call {
  readonly service: Service;
  readonly params: Params;
  readonly query: URLSearchParams;
  readonly key: SandboxKey;
  /** The sandbox's time at arrival, in milliseconds. */
  readonly now: number;
  /** Reads the JSON body; undefined without a body. Throws a 400 for a body that is not JSON. */
  readonly json: () => Promise<unknown>;
  /** Names the entity that the request created, for its record in the tenant's logs. */
  readonly created: (id: string) => void;
}

/** An endpoint of the API. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path; variable segments are written `:name`. */
  readonly path: string;
  /** The required permission, which also determines the type of key. */
  readonly permission: Permission;
  readonly audit: AuditSubject;
  /** The status of success; 200 by default. */
  readonly status?: number;
  /** Returns the body of the response, or throws a `problem`. */
  handle(call: Call): unknown;
}
