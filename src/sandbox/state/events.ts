import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { JobStatus } from '../../schema/account-updater.ts';
import type { TenantType } from '../routes/tenant.ts';
import type { Job, ThreeDsEvent, TokenEvent } from './world.ts';

// What the journal holds, a line each. State is a function of these, the seed among them, and the time.
// Times are milliseconds of the sandbox's clock.

/** The first line: what the sandbox's world is made from. */
export interface StartEvent {
  readonly type: 'start';
  readonly at: number;
  readonly seed: number;
  /** Hex; signs the store's addresses. */
  readonly secret: string;
  /** Made-up logs of the day before the start. */
  readonly logs: number;
  /** `test` where it is absent. */
  readonly tenantType?: TenantType;
}

/** The sandbox's clock from here on runs this far ahead of the real one. */
export interface ClockEvent {
  readonly type: 'clock';
  readonly at: number;
  readonly offset: number;
}

/** A job was created. */
export interface JobEvent {
  readonly type: 'job';
  readonly at: number;
  /** Tells the process that wrote the line which of the jobs is its own. */
  readonly nonce: string;
  /** Number of the application that created it. */
  readonly application: number;
}

/** A request file arrived whole. */
export interface UploadEvent {
  readonly type: 'upload';
  readonly at: number;
  readonly job: string;
  readonly bytes: number;
  readonly md5: string;
  /** How long after the upload processing begins. */
  readonly pickup: number;
  /** How long after the upload the result is there. */
  readonly processing: number;
}

/** A request file was processed. */
export interface ResultEvent {
  readonly type: 'result';
  readonly at: number;
  readonly job: string;
  /** Which of the job's uploads, counted from 1. */
  readonly upload: number;
  readonly rows: number;
  readonly bytes: number;
  readonly md5: string;
  readonly errors: readonly string[];
  /** New card tokens that the result names. */
  readonly newTokens?: number;
  /** Card tokens that the file named and the vault holds, each once: the first thousand of them. */
  readonly used?: readonly string[];
}

/** The tenant was given a name and settings. */
export interface TenantEvent {
  readonly type: 'tenant';
  readonly at: number;
  /** Number of the application that did it. */
  readonly application: number;
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** The tenant was deleted, for good. */
export interface TenantDeletedEvent {
  readonly type: 'tenant-deleted';
  readonly at: number;
  readonly application: number;
}

/** An address was first told to be notified of events. */
export interface WebhookEvent {
  readonly type: 'webhook';
  readonly at: number;
  readonly url: string;
}

/** An attempt to notify an address. */
export interface DeliveryEvent {
  readonly type: 'delivery';
  readonly at: number;
  readonly url: string;
  /** Id of the event that it brought. */
  readonly event: string;
  /** 0 when no answer came. */
  readonly status: number;
}

/** A request that leaves an audit record. */
export interface AuditEvent {
  readonly type: 'audit';
  readonly at: number;
  /** Number of the calling application; absent for the store, which knows no caller. */
  readonly application?: number;
  readonly entityType: string;
  readonly entityId: string;
  readonly operation: string;
  readonly message: string;
}

/** A line of the journal. */
export type JournalEvent =
  | StartEvent
  | ClockEvent
  | JobEvent
  | UploadEvent
  | ResultEvent
  | AuditEvent
  | TenantEvent
  | TenantDeletedEvent
  | WebhookEvent
  | DeliveryEvent
  | TokenEvent
  | ThreeDsEvent;

const TYPES: ReadonlySet<unknown> = new Set([
  'start',
  'clock',
  'job',
  'upload',
  'result',
  'audit',
  'tenant',
  'tenant-deleted',
  'webhook',
  'delivery',
  'token',
  '3ds-session',
  '3ds-method',
  '3ds-authentication',
  '3ds-challenge',
]);

/** Reads one line; undefined for half a line, an empty one, or an event of a later version. */
export function readEvent(line: string): JournalEvent | undefined {
  if (line === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is JournalEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    TYPES.has(value.type) &&
    'at' in value &&
    typeof value.at === 'number'
  );
}

/** A job's status at a time, computed from its facts. `removed`: no request file came within the hour. */
export function jobStatus(job: Job, now: number): JobStatus | 'removed' {
  if (job.upload === undefined) return now < expiryOf(job) ? 'pending' : 'removed';
  const age = now - job.upload.at;
  if (age < job.upload.pickup) return 'pending';
  if (age < job.upload.processing || job.result === undefined) return 'processing';
  return job.result.errors.length > 0 ? 'failed' : 'completed';
}

/** Whether the time is up for a job whose file nobody has processed yet. */
export function isDue(job: Job, now: number): boolean {
  return job.upload !== undefined && job.result === undefined && now - job.upload.at >= job.upload.processing;
}

/** When a job's upload address expires. */
export function expiryOf(job: Job): number {
  return job.createdAt + UPLOAD_LIFE_MS;
}
