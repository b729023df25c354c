import { SvcError } from '../errors.ts';
import type { HttpCore } from '../http/core.ts';
import { type ApiRequest, path } from '../http/request.ts';
import { listSource, MAX_DEPTH } from '../json-source.ts';
import type { EntityType } from '../schema/entity-type.ts';
import type { Log } from '../schema/log.ts';
import { cursorPages, type ListRequest, type PageOptions } from './cursor-pages.ts';
import { logFrom } from './log-entry.ts';
import type { Pages } from './pages.ts';

/** What the service itself can filter logs by. Times are ISO 8601. */
export interface LogFilter {
  readonly entityType?: string | undefined;
  readonly entityId?: string | undefined;
  /** Keeps entries created at this time or later. */
  readonly startDate?: string | undefined;
  /** Keeps entries created before this time. */
  readonly endDate?: string | undefined;
}

/** Audit logs: `GET /logs` and `GET /logs/entity-types`, permission log:read. */
export class Logs {
  readonly #core: HttpCore;

  constructor(core: HttpCore) {
    this.#core = core;
  }

  /** Entries of the tenant's log, as far back as its retention reaches. None stops the others, whatever its form. */
  list(filter: LogFilter = {}, options: PageOptions = {}): Pages<Log> {
    return cursorPages(this.#core, options, listLogsRequest(filter), logsFrom);
  }

  /** The kinds of entity that logs are about. */
  entityTypes(): Promise<EntityType[]> {
    return this.#core.call(entityTypesRequest());
  }
}

export function entityTypesRequest(): ApiRequest<EntityType[]> {
  return {
    method: 'GET',
    path: path`/logs/entity-types`,
    key: 'management',
    permission: 'log:read',
    subject: 'entity types',
    shape: async () => (await import('../schema/entity-type.ts')).entityTypeListSchema,
  };
}

export function listLogsRequest(filter: LogFilter): ListRequest<unknown> {
  return {
    path: path`/logs`,
    query: {
      entity_type: filter.entityType,
      entity_id: filter.entityId,
      start_date: filter.startDate,
      end_date: filter.endDate,
    },
    key: 'management',
    permission: 'log:read',
    subject: 'logs',
    itemsOfAnyDepth: true,
    shape: async () => (await import('../schema/log.ts')).looseLogPageSchema,
  };
}

function logsFrom(items: readonly unknown[], text: string): Log[] {
  const list = listSource(text);
  if (list === undefined || list.depth > MAX_DEPTH)
    throw new SvcError('bad_answer', `the page of logs is nested more than ${MAX_DEPTH} levels deep`);
  return list.items.map((source, at) => logFrom(items[at], source));
}
