import { DAY_MS } from '../../schema/durations.ts';
import type { EntityType, Log, LogPage } from '../../schema/log.ts';
import { cursorList, cursorPage, pageSize, readCursor, writeCursor } from '../paging.ts';
import { invalid } from '../problem.ts';
import { applicationId, ENTITY_KINDS, isoSeconds, seededLogs } from '../seed/logs.ts';
import type { ApiRoute, Call } from '../endpoint.ts';
import type { EventOf } from '../state/events.ts';
import type { World } from '../state/world.ts';

/** The retention of logs: the service's usual quota. */
const LOG_RETENTION_MS = DAY_MS;

const ISO_DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;

export const LOG_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/logs',
    permission: 'log:read',
    audit: { entityType: 'log', noun: 'Logs', operation: 'read' },
    handle: readPage,
  },
  {
    method: 'GET',
    path: '/logs/entity-types',
    permission: 'log:read',
    audit: { entityType: 'log', noun: 'Entity types', operation: 'read' },
    handle: (): EntityType[] => ENTITY_KINDS.map(({ displayName, value }) => ({ display_name: displayName, value })),
  },
];

function readPage({ query, service, now }: Call): unknown {
  const size = pageSize(query);
  const isOldestFirst = service.options.order === 'asc';
  // A cursor is valid only in one order.
  const list = cursorList(isOldestFirst ? 'logs-asc' : 'logs', query, service.options);
  const begin = readPosition(query, list) ?? (isOldestFirst ? BEGINNING : END);
  const listed = isOldestFirst ? logsOldestFirst : logsNewestFirst;
  const data: LogPage['data'] = [];
  let last: LogPosition | undefined;
  for (const { log, after } of listed(service.state.world, now, readFilter(query), begin)) {
    if (last !== undefined && data.length === size)
      return cursorPage(data, size, writeCursor(list, [last.seeded, last.audit]));
    data.push(log());
    last = after;
  }
  return cursorPage(data, size, undefined);
}

function readPosition(query: URLSearchParams, list: string): LogPosition | undefined {
  const positions = readCursor(query, list);
  if (positions === undefined) return undefined;
  const [seeded = 0, audit = 0] = positions;
  return { seeded, audit };
}

/** Reads the filter of a request: an entity, and an interval in milliseconds. */
function readFilter(query: URLSearchParams) {
  return {
    entityType: query.get('entity_type') || undefined,
    entityId: query.get('entity_id') || undefined,
    from: readDate(query, 'start_date'),
    before: readDate(query, 'end_date'),
  };
}

function readDate(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  // A time without an offset is UTC, wherever the sandbox runs.
  const isOffsetMissing = text.includes('T') && !/(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const time =
    ISO_DATE.test(text) && isCalendarDay(text) ? Date.parse(isOffsetMissing ? `${text}Z` : text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(name, 'Must be an ISO 8601 date.');
  return time;
}

/** Tells whether a date is in the calendar. `Date.parse` takes February 30 for March 2. */
function isCalendarDay(text: string): boolean {
  const day = text.slice(0, 10);
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

type LogFilter = ReturnType<typeof readFilter>;

/** A position in the list of logs: the numbers of a generated log and an audit record, at which the list continues. */
interface LogPosition {
  readonly seeded: number;
  readonly audit: number;
}

const BEGINNING: LogPosition = { seeded: 0, audit: 0 };
const END: LogPosition = { seeded: Infinity, audit: Infinity };

interface ListedLog {
  readonly log: () => Log;
  /** The position at which the list continues after this log. */
  readonly after: LogPosition;
}

/** Yields the tenant's logs after a position, newest first. New logs get higher numbers, so positions stay valid. */
function* logsNewestFirst(world: World, now: number, filter: LogFilter, position: LogPosition): Generator<ListedLog> {
  const { logs, from, before, records, generated } = windowOf(world, now, filter);
  let seeded = Math.min(position.seeded, generated.end);
  let audit = Math.min(position.audit, records.end);
  while (seeded > generated.begin || audit > records.begin) {
    const event = audit > records.begin ? world.audit[audit - 1] : undefined;
    if (event !== undefined && (seeded <= generated.begin || auditTime(event) >= logs.timeOf(seeded - 1))) {
      audit -= 1;
      if (!isWithin(event, from, before) || !isAbout(event, filter)) continue;
      yield { log: () => auditLog(world, event), after: { seeded, audit } };
    } else {
      seeded -= 1;
      const number = seeded;
      if (isGeneratedAbout(logs, number, filter)) yield { log: () => logs.logOf(number), after: { seeded, audit } };
    }
  }
}

/** Yields the tenant's logs after a position, oldest first. */
function* logsOldestFirst(world: World, now: number, filter: LogFilter, position: LogPosition): Generator<ListedLog> {
  const { logs, from, before, records, generated } = windowOf(world, now, filter);
  let seeded = Math.max(position.seeded, generated.begin);
  let audit = Math.max(position.audit, records.begin);
  while (seeded < generated.end || audit < records.end) {
    const event = audit < records.end ? world.audit[audit] : undefined;
    if (event !== undefined && (seeded >= generated.end || auditTime(event) < logs.timeOf(seeded))) {
      audit += 1;
      if (!isWithin(event, from, before) || !isAbout(event, filter)) continue;
      yield { log: () => auditLog(world, event), after: { seeded, audit } };
    } else {
      const number = seeded;
      seeded += 1;
      if (isGeneratedAbout(logs, number, filter)) yield { log: () => logs.logOf(number), after: { seeded, audit } };
    }
  }
}

/** Finds the generated logs and the audit records that may be in the interval of a filter. */
function windowOf(world: World, now: number, filter: LogFilter) {
  const logs = seededLogs(world.start, world.tenantId);
  const from = Math.max(filter.from ?? -Infinity, now - LOG_RETENTION_MS);
  const before = filter.before ?? Infinity;
  const timeOf = (number: number): number => logs.timeOf(number);
  const generated = { begin: firstAt(logs.count, timeOf, from), end: firstAt(logs.count, timeOf, before) };
  return { logs, from, before, records: auditWindow(world, from, before), generated };
}

type GeneratedLogs = ReturnType<typeof seededLogs>;

function isGeneratedAbout(logs: GeneratedLogs, number: number, { entityType, entityId }: LogFilter): boolean {
  return (
    (entityType === undefined || logs.entityTypeOf(number) === entityType) &&
    (entityId === undefined || logs.entityIdOf(number) === entityId)
  );
}

function isWithin(event: EventOf<'audit'>, from: number, before: number): boolean {
  const time = auditTime(event);
  return time >= from && time < before;
}

/** Returns the range of audit records that may be in an interval. After the clock was set back, this is all records. */
function auditWindow({ audit, auditInOrder }: World, from: number, before: number): { begin: number; end: number } {
  if (!auditInOrder) return { begin: 0, end: audit.length };
  const timeOf = (number: number): number => auditTime(audit[number]);
  return { begin: firstAt(audit.length, timeOf, from), end: firstAt(audit.length, timeOf, before) };
}

/** Finds the number of the first log at or after a time, by binary search. */
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

function auditTime(event: EventOf<'audit'> | undefined): number {
  return Math.floor((event?.at ?? 0) / 1000) * 1000;
}

function isAbout(event: EventOf<'audit'>, { entityType, entityId }: LogFilter): boolean {
  return (
    (entityType === undefined || event.entityType === entityType) &&
    (entityId === undefined || event.entityId === entityId)
  );
}

function auditLog(world: World, event: EventOf<'audit'>): Log {
  const { seed } = world.start;
  return {
    tenant_id: world.tenantId,
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
