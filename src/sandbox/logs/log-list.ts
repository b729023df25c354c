import type { Log } from '../../schema/log.ts';
import { applicationId, tenantId } from '../seed/entities.ts';
import { seededLogs } from '../seed/logs.ts';
import type { AuditEvent } from '../state/events.ts';
import type { World } from '../state/world.ts';
import { isoSeconds } from '../time.ts';

/** How long a log can be had: the service's usual quota. */
const LOG_RETENTION_MS = 24 * 3_600_000;

/** Which logs are wanted. Times in milliseconds. */
export interface LogFilter {
  readonly entityType?: string | undefined;
  readonly entityId?: string | undefined;
  /** Kept from here on. */
  readonly from?: number | undefined;
  /** Kept before this. */
  readonly before?: number | undefined;
}

/** A place in the list: made-up logs and audit records below these numbers are still to come. */
export interface LogPosition {
  readonly seeded: number;
  readonly audit: number;
}

/**
 * The tenant's logs from a position on, newest first, each with the position after it. Both kinds only grow at
 * the new end, so a position stays good while requests add records.
 */
export function* listLogs(
  world: World,
  now: number,
  filter: LogFilter,
  position: LogPosition = { seeded: Infinity, audit: Infinity },
): Generator<{ log: () => Log; after: LogPosition }> {
  const { start } = world;
  const logs = seededLogs(start.seed, start.at, start.logs);
  const from = Math.max(filter.from ?? -Infinity, now - LOG_RETENTION_MS);
  const before = filter.before ?? Infinity;
  const records = auditWindow(world, from, before);
  const seededAt = (number: number): number => logs.timeOf(number);
  const oldest = firstAt(logs.count, seededAt, from);
  let seeded = Math.min(position.seeded, firstAt(logs.count, seededAt, before));
  let audit = Math.min(position.audit, records.end);
  while (seeded > oldest || audit > records.begin) {
    const event = audit > records.begin ? world.audit[audit - 1] : undefined;
    if (event !== undefined && (seeded <= oldest || auditTime(event) >= logs.timeOf(seeded - 1))) {
      audit -= 1;
      const time = auditTime(event);
      if (time < from || time >= before || !isAbout(event, filter)) continue;
      yield { log: () => auditLog(world, event), after: { seeded, audit } };
    } else {
      seeded -= 1;
      const number = seeded;
      if (filter.entityType !== undefined && logs.entityTypeOf(number) !== filter.entityType) continue;
      if (filter.entityId !== undefined && logs.entityIdOf(number) !== filter.entityId) continue;
      yield { log: () => logs.logOf(number), after: { seeded, audit } };
    }
  }
}

/** Which audit records can lie in a window. After the clock was set back that cannot be told from their places. */
function auditWindow({ audit, auditInOrder }: World, from: number, before: number): Span {
  if (!auditInOrder) return { begin: 0, end: audit.length };
  const timeOf = (number: number): number => auditTime(audit[number]);
  return { begin: firstAt(audit.length, timeOf, from), end: firstAt(audit.length, timeOf, before) };
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** The number of the first log at or after a time, by halving. */
function firstAt(count: number, timeOf: (number: number) => number, time: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (timeOf(middle) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function auditTime(event: AuditEvent | undefined): number {
  return Math.floor((event?.at ?? 0) / 1000) * 1000;
}

function isAbout(event: AuditEvent, { entityType, entityId }: LogFilter): boolean {
  return (
    (entityType === undefined || event.entityType === entityType) &&
    (entityId === undefined || event.entityId === entityId)
  );
}

function auditLog(world: World, event: AuditEvent): Log {
  const { seed } = world.start;
  return {
    tenant_id: tenantId(seed),
    ...(event.application !== undefined && {
      actor_id: applicationId(seed, event.application),
      actor_type: 'application',
    }),
    entity_type: event.entityType,
    entity_id: event.entityId,
    operation: event.operation,
    message: event.message,
    created_at: isoSeconds(event.at),
  };
}
