import type { Shape } from '../../schema/response.ts';
import type { KeyKind, Permission, SandboxKey } from '../keys.ts';
import type { Service } from '../service.ts';

/** A response of the API: a JSON body, or none. */
export interface RouteResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an API request leaves in the tenant's logs. */
export interface AuditNote {
  readonly entityType: string;
  readonly entityId: string;
  readonly operation: string;
  readonly message: string;
}

/** What an endpoint's requests are called in the tenant's logs, where its handler says nothing closer. */
export interface AuditSubject {
  readonly entityType: string;
  /** Begins a sentence: `Job`, `Usage report`. */
  readonly noun: string;
  readonly operation: 'create' | 'read' | 'update' | 'delete';
}

/** One request, as a handler sees it. */
export interface Call {
  readonly service: Service;
  /** Parts of the path by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly key: SandboxKey;
  /** The sandbox's time at arrival, in milliseconds. */
  readonly now: number;
  /** The JSON body; undefined when there is none. Throws a 400 when it is not JSON. */
  readonly json: () => Promise<unknown>;
  /** Adds a record to the tenant's logs, in place of the one that the endpoint's `audit` would make. */
  readonly audit: (note: AuditNote) => void;
}

/** A parameter of a query, as an OpenAPI document describes it. */
export interface QueryParameter {
  readonly name: string;
  readonly in: 'query';
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** An endpoint of the API: data, from which the app is made, and a description of it can be. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parts that vary are written `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly kind: KeyKind;
  readonly permission: Permission;
  /** Every request leaves a log; this says what of. */
  readonly audit?: AuditSubject;
  readonly query?: readonly QueryParameter[];
  readonly request?: Shape;
  readonly response?: Shape;
  /** The status of success. */
  readonly status: number;
  /** Returns the body of the response. Throws a `ProblemError` for any other response. */
  handle(call: Call): unknown;
}
