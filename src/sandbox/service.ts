import type { Processing } from './account-updater/processing.ts';
import type { ObjectFiles } from './buckets/objects.ts';
import type { SandboxKey } from './keys.ts';
import type { RateLimits } from './limits.ts';
import type { ApiRoute, AuditNote, AuditSubject } from './routes/route.ts';
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
