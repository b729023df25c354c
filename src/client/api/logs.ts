// The endpoints of audit logs, and the entries of the logs with their original text.

import { isUtf8 } from 'node:buffer';
import { SvcError } from '../../base/errors.ts';
import { isPlain, readExact } from '../../base/json/exact.ts';
import {
  type JsonSource,
  keepSource,
  listSource,
  listSourceOfBytes,
  MAX_DEPTH,
  sourceFrom,
  sourceOf,
} from '../../base/json/source.ts';
import { isObject } from '../../schema/json-value.ts';
import { LOG_FIELDS } from '../../schema/log-fields.ts';
import type { EntityType, Log } from '../../schema/log.ts';
import { Endpoints } from '../http/core.ts';
import { type ApiRequest, path } from '../http/request.ts';
import { cursorPages, type ListRequest, type PageOptions, type Pages } from './pages.ts';

/** The filters of logs that the service applies. Times are ISO 8601. */
export interface LogFilter {
  readonly entityType?: string | undefined;
  readonly entityId?: string | undefined;
  /** Keeps entries created at this time or later. */
  readonly startDate?: string | undefined;
  /** Keeps entries created before this time. */
  readonly endDate?: string | undefined;
}

/** Audit logs: `GET /logs` and `GET /logs/entity-types`, permission log:read. */
export class Logs extends Endpoints {
  /** Lists the tenant's log entries within their retention. A malformed entry does not end the list. */
  list(filter: LogFilter = {}, options: PageOptions = {}): Pages<Log> {
    return cursorPages(this.core, options, listLogsRequest(filter), logsFrom);
  }

  entityTypes(): Promise<EntityType[]> {
    return this.core.call(entityTypesRequest());
  }
}

export function entityTypesRequest(): ApiRequest<EntityType[]> {
  return {
    method: 'GET',
    path: path`/logs/entity-types`,
    key: 'management',
    permission: 'log:read',
    subject: 'entity types',
    shape: async () => (await import('../../schema/log.ts')).entityTypeListSchema,
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
    shape: () => (pageShape ??= loadPageShape()),
  };
}

// Each page would ask Node for the module again.
let pageShape: ReturnType<typeof loadPageShape> | undefined;

async function loadPageShape() {
  return (await import('../../schema/log.ts')).looseLogPageSchema;
}

function logsFrom(items: readonly unknown[], text: string, bytes: Buffer | undefined): Log[] {
  const list = bytes === undefined ? listSource(text) : listSourceOfBytes(bytes);
  if (list === undefined || list.depth > MAX_DEPTH)
    throw new SvcError('bad_response', `the page of logs is nested more than ${MAX_DEPTH} levels deep`);
  return list.items.map((source, at) => logFrom(items[at], source));
}

/** The way in which an entry differs from the documented form. The text of such an entry is kept too. */
export type Malformation = 'too deep' | 'not an object' | 'other types';

const malformations = new WeakMap<Log, Malformation>();

/** Returns an item as an entry, without members of undocumented types. Without a time, `created_at` is empty. */
function logFrom(item: unknown, source: JsonSource): Log {
  if (isObject(item) && isLog(item) && source.depth <= MAX_DEPTH) return keepSource(item, source);
  source.isPlain = false;
  if (!isObject(item)) return malformed({ created_at: '' }, source, 'not an object');
  if (source.depth > MAX_DEPTH) return malformed(documentedMembers(item, isFlat), source, 'too deep');
  const log = documentedMembers(item);
  return hasTexts(item) ? keepSource(log, source) : malformed(log, source, 'other types');
}

/** Parses an entry from the bytes of a line, which may not all be UTF-8. @throws SyntaxError */
export function logFromBytes(bytes: Buffer): Log {
  if (isUtf8(bytes)) return logFromLine(bytes.toString('utf8'));
  const line = bytes.toString('utf8');
  return logFrom(JSON.parse(line), { ...sourceFrom(line), bytes });
}

/** Parses an entry from a line of JSON without whitespace. @throws SyntaxError */
export function logFromLine(line: string): Log {
  const item: unknown = JSON.parse(line);
  const isShallow = isObject(item) && Object.values(item).every(isFlat);
  return logFrom(item, isShallow ? { text: line, depth: 1 } : sourceFrom(line));
}

/** Returns the bytes of an entry that are not all UTF-8, so that its text is incomplete; undefined for any other entry. */
export function damagedBytes(log: Log): Buffer | undefined {
  return sourceOf(log)?.bytes;
}

/** Returns the text of an entry as the service sent it. */
export function logText(log: Log): string {
  return sourceOf(log)?.text ?? JSON.stringify(log);
}

/** Whether parsing the entry lost a part of its text, such as digits of a number. */
export function isLossy(log: Log): boolean {
  const source = sourceOf(log);
  if (source?.bytes !== undefined) return true;
  if (source === undefined || isPlain(log, source)) return false;
  return malformationOf(log) !== undefined || readExact(source.text).isLossy;
}

/** Whether every JSON reader accepts the text of an entry as an object. */
export function isReadable(log: Log): boolean {
  const malformation = malformationOf(log);
  if (damagedBytes(log) !== undefined || malformation === 'too deep' || malformation === 'not an object') return false;
  const source = sourceOf(log);
  const text = logText(log);
  // In a plain text, lone surrogates are the only part that some readers reject.
  const mayHaveSurrogates = text.includes('\\') && text.includes(String.raw`\ud`);
  const isSimple = (source === undefined || isPlain(log, source)) && !mayHaveSurrogates;
  return isSimple || readExact(text).isReadable;
}

export function malformationOf(log: Log): Malformation | undefined {
  return malformations.get(log);
}

function malformed(log: Log, source: JsonSource, malformation: Malformation): Log {
  malformations.set(log, malformation);
  return keepSource(log, source);
}

function isLog(item: Record<string, unknown>): item is Log {
  return typeof item['created_at'] === 'string' && hasTexts(item);
}

function hasTexts(item: Record<string, unknown>): boolean {
  return LOG_FIELDS.every((name) => typeof (item[name] ?? '') === 'string');
}

function documentedMembers(item: object, isKept: (value: unknown) => boolean = () => true): Log {
  const names: ReadonlySet<string> = new Set(LOG_FIELDS);
  const members = Object.entries(item).filter(
    ([name, value]) => isKept(value) && (!names.has(name) || typeof value === 'string'),
  );
  return { created_at: '', ...Object.fromEntries(members) };
}

function isFlat(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
