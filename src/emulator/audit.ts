import type { SandboxKey } from './keys.ts';
import type { Service } from './service.ts';
import type { EventOf } from './state/events.ts';

/** A record in the tenant's logs. */
export type AuditNote = Omit<EventOf<'audit'>, 'type' | 'at' | 'application'>;

/** Adds a record to the tenant's logs. `key` is undefined for a request to the store, which needs no key. */
export function recordAudit({ state }: Service, key: SandboxKey | undefined, note: AuditNote): void {
  state.record({ type: 'audit', at: state.now(), ...(key && { application: key.application }), ...note });
}

/** Returns the record of a request to an endpoint. Without an `id`, the record is about the tenant. */
export function auditNote({ state }: Service, subject: AuditSubject, refused: boolean, id?: string): AuditNote {
  const { entityType, noun, operation } = subject;
  return {
    entityType,
    entityId: id?.slice(0, MAX_ID_LENGTH) ?? state.world.tenantId,
    operation,
    message: `${noun} ${refused ? `${operation} refused` : PAST[operation]}`,
  };
}

const PAST = { create: 'created', read: 'read', update: 'updated', delete: 'deleted' } as const;

// Ids come from the path of a request, which may contain any text, so they are cut.
const MAX_ID_LENGTH = 100;

/** How the tenant's logs describe requests to an endpoint. */
export interface AuditSubject {
  readonly entityType: string;
  /** The noun at the beginning of a message: `Job`, `Usage report`. */
  readonly noun: string;
  readonly operation: keyof typeof PAST;
}
