import { type JsonSource, keepSource, MAX_DEPTH } from '../json-source.ts';
import type { Log } from '../schema/log.ts';

/** What can be unusual about an entry. It is kept as it was sent all the same. */
export type LogOddity = 'too deep' | 'not an object' | 'other types';

/** The members that are texts wherever they are present. */
const TEXTS = [
  'tenant_id',
  'actor_id',
  'actor_type',
  'entity_type',
  'entity_id',
  'operation',
  'message',
  'created_at',
] as const;

const oddities = new WeakMap<Log, LogOddity>();

/**
 * The entry that an item of a list is: its members, as far as they have the types promised and are not nested too
 * deep; without a time, `created_at` is empty. The text that it was sent as stays with it (`sourceOf`).
 */
export function logFrom(item: unknown, source: JsonSource): Log {
  if (!isObject(item)) return odd({ created_at: '' }, source, 'not an object');
  if (source.depth > MAX_DEPTH) return odd(promised(item, isFlat), source, 'too deep');
  if (isLog(item)) return keepSource(item, source);
  const log = promised(item);
  return TEXTS.every((name) => isText(item[name]))
    ? keepSource(log, source)
    : odd(log, source, 'other types');
}

/** What is unusual about an entry, if anything is. */
export function oddityOf(log: Log): LogOddity | undefined {
  return oddities.get(log);
}

function odd(log: Log, source: JsonSource, oddity: LogOddity): Log {
  oddities.set(log, oddity);
  return keepSource(log, source);
}

function isLog(item: Record<string, unknown>): item is Log {
  return typeof item['created_at'] === 'string' && TEXTS.every((name) => isText(item[name]));
}

function promised(item: object, isKept: (value: unknown) => boolean = () => true): Log {
  const names: ReadonlySet<string> = new Set(TEXTS);
  const members = Object.entries(item).filter(
    ([name, value]) => isKept(value) && (!names.has(name) || typeof value === 'string'),
  );
  return { created_at: '', ...Object.fromEntries(members) };
}

function isObject(item: unknown): item is Record<string, unknown> {
  return typeof item === 'object' && item !== null && !Array.isArray(item);
}

function isFlat(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || value === undefined || value === null;
}
