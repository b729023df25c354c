import { entityTypeListSchema, type EntityType } from '../../schema/entity-type.ts';
import { logPageSchema, type LogPage } from '../../schema/log.ts';
import { listLogs, type LogFilter, type LogPosition } from '../logs/log-list.ts';
import { cursorPage, pageNumber, pageSize, readCursor, writeCursor } from '../paging.ts';
import { invalid } from '../problem.ts';
import { ENTITY_KINDS } from '../seed/entities.ts';
import { CURSOR_QUERY, queryParameter } from './query.ts';
import type { ApiRoute, Call } from './route.ts';

const LOGS_READ = 'Logs read';

const DATE = { type: 'string', format: 'date-time' };

const LOG_QUERY = [
  queryParameter('entity_type', 'only logs about entities of this type'),
  queryParameter('entity_id', 'only logs about this entity'),
  queryParameter('start_date', 'only logs from this time on', DATE),
  queryParameter('end_date', 'only logs before this time', DATE),
  ...CURSOR_QUERY,
];

/** Endpoints of the audit logs. */
export const LOG_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/logs',
    summary: 'List logs',
    kind: 'management',
    permission: 'log:read',
    audit: { entityType: 'log', noun: 'Logs', operation: 'read' },
    query: LOG_QUERY,
    response: logPageSchema,
    status: 200,
    handle: readPage,
  },
  {
    method: 'GET',
    path: '/logs/entity-types',
    summary: 'List entity types',
    kind: 'management',
    permission: 'log:read',
    audit: { entityType: 'log', noun: 'Entity types', operation: 'read' },
    response: entityTypeListSchema,
    status: 200,
    handle: (): EntityType[] =>
      ENTITY_KINDS.map(({ displayName, value }) => ({ display_name: displayName, value })),
  },
];

function readPage(call: Call): unknown {
  const { query, service, now } = call;
  const size = pageSize(query);
  const page = pageNumber(query);
  const skipped = (page - 1) * size;
  const begin = readPosition(query) ?? pageOne(call, page);
  const data: LogPage['data'] = [];
  let last: LogPosition | undefined;
  let seen = 0;
  for (const { log, after } of listLogs(service.state.world, now, readFilter(query), begin)) {
    seen += 1;
    if (seen <= skipped) continue;
    if (last !== undefined && data.length === size)
      return cursorPage(data, size, writeCursor('logs', [last.seeded, last.audit]));
    data.push(log());
    last = after;
  }
  return cursorPage(data, size, undefined);
}

// Each page read adds a log at the top. A walk by page number would meet the same logs again and again, so those that
// its own earlier pages have added are passed over.
function pageOne({ service, key }: Call, page: number): LogPosition {
  const { audit } = service.state.world;
  let number = audit.length;
  for (let earlier = 1; earlier < page; earlier += 1) {
    const record = audit[number - 1];
    if (record?.message !== LOGS_READ || record.application !== key.application) break;
    number -= 1;
  }
  return { seeded: Infinity, audit: number };
}

function readPosition(query: URLSearchParams): LogPosition | undefined {
  const positions = readCursor(query, 'logs');
  if (positions === undefined) return undefined;
  const [seeded = 0, audit = 0] = positions;
  return { seeded, audit };
}

function readFilter(query: URLSearchParams): LogFilter {
  return {
    entityType: query.get('entity_type') || undefined,
    entityId: query.get('entity_id') || undefined,
    from: readDate(query, 'start_date'),
    before: readDate(query, 'end_date'),
  };
}

const ISO_DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;

function readDate(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const time = ISO_DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(name, 'Must be an ISO 8601 date.');
  return time;
}
