import { objectOrUndefined } from '../schema/guards.ts';
import { readCache, writeCache } from './cache-file.ts';
import type { PathsHost } from './paths.ts';

type NamedType = readonly [value: string, name: string];

/** Entity types that the interface names; the service can have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;

export const ENTITY_TYPES_FILE_NAME = 'entity-types.json';

/** Entity types as any service last listed them; none where nothing readable is kept. */
export function readEntityTypes(system: PathsHost): NamedType[] {
  return Object.values(readServices(system)).flat();
}

function readServices(system: PathsHost): Record<string, readonly NamedType[]> {
  const services = objectOrUndefined(readCache(system, ENTITY_TYPES_FILE_NAME)['services']) ?? {};
  const lists = Object.entries(services).map(
    ([service, types]) => [service, Array.isArray(types) ? types.filter(isPair) : []] as const,
  );
  return Object.fromEntries(lists);
}

/** Whether a value of a cache is an id or value, and its name. */
export function isPair(value: unknown): value is NamedType {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

/** Keeps the entity types of a service, such as its base URL, for completion. @returns whether they could be kept */
export function rememberEntityTypes(system: PathsHost, service: string, types: readonly NamedType[]): boolean {
  const services = { ...readServices(system), [service]: types };
  return writeCache(system, ENTITY_TYPES_FILE_NAME, { version: 1, services });
}
