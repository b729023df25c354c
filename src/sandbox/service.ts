import type { Shape } from '../schema/response.ts';
import type { Processing } from './account-updater/processing.ts';
import type { ObjectFiles } from './buckets/objects.ts';
import type { KeyKind, Permission, SandboxKey } from './keys.ts';
import type { RateLimits } from './limits.ts';
import { tenantId } from './seed/entities.ts';
import type { SandboxState } from './state/state.ts';
import type { StoreFiles } from './store/files.ts';

/** How fast jobs go, in milliseconds from the upload: when processing begins, and when the result is there. */
export interface JobSpeed {
  readonly pickup: number;
  readonly processing: number;
}

/** What the routes of one running sandbox work with. */
export interface Service {
  readonly state: SandboxState;
  readonly files: StoreFiles;
  /** What the buckets hold. */
  readonly objects: ObjectFiles;
  readonly processing: Processing;
  /** Absent where no limits hold. */
  readonly limits: RateLimits | undefined;
  readonly speed: JobSpeed;
  /** Scheme, host and port that this process serves. */
  origin(): string;
}

type Params = Readonly<Record<string, string>>;

/** Writes one record into the tenant's logs. The store knows no caller and gives no key. */
export function recordAudit({ state }: Service, key: SandboxKey | undefined, note: AuditNote): void {
  state.record({ type: 'audit', at: state.now(), ...(key && { application: key.application }), ...note });
}

/** What a request to an endpoint leaves when its handler wrote nothing itself. */
export function successMessage(service: Service, route: ApiRoute, params: Params): AuditNote {
  const { noun, operation } = subjectOf(route);
  return auditMessage(service, subjectOf(route), params, `${noun} ${PAST[operation]}`);
}

/** What a request leaves that an endpoint refused. */
export function refusalMessage(service: Service, route: ApiRoute, params: Params): AuditNote {
  const { noun, operation } = subjectOf(route);
  return auditMessage(service, subjectOf(route), params, `${noun} ${operation} refused`);
}

/** What a request leaves that no endpoint serves. */
export function unknownMessage(service: Service, method: string): AuditNote {
  const operation = OPERATIONS[method] ?? 'read';
  return auditMessage(service, { entityType: 'tenant', noun: '', operation }, {}, 'Unknown endpoint refused');
}

const PAST = { create: 'created', read: 'read', update: 'updated', delete: 'deleted' } as const;

const OPERATIONS: Readonly<Record<string, AuditSubject['operation']>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

// A path can hold anything; a log entry needs no more of it than an id is long.
const LONGEST_ID = 100;

function auditMessage(
  { state }: Service,
  { entityType, operation }: AuditSubject,
  params: Params,
  message: string,
): AuditNote {
  const entityId = params['id']?.slice(0, LONGEST_ID) ?? tenantId(state.world.start.seed);
  return { entityType, entityId, operation, message };
}

function subjectOf({ audit, summary, method }: ApiRoute): AuditSubject {
  return audit ?? { entityType: 'tenant', noun: summary, operation: OPERATIONS[method] ?? 'read' };
}

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
