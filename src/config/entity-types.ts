import { join } from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { writeFileAtomicSync } from '../files/draft.ts';
import { isObject } from '../schema/guards.ts';
import { cacheDirectory, type PathsHost } from './paths.ts';

type NamedType = readonly [value: string, name: string];

/** Entity types that the interface names; the service can have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;

export const ENTITY_TYPES_FILE_NAME = 'entity-types.json';

/** Entity types as any service last listed them; none where nothing readable is kept. */
export function readEntityTypes(system: PathsHost): NamedType[] {
  return Object.values(readServices(system)).flat();
}

/** The entity types by service, as far as the cache file is what it should be. */
function readServices(system: PathsHost): Record<string, readonly NamedType[]> {
  try {
    const directory = cacheDirectory(system);
    if (directory === undefined) return {};
    const cache: unknown = JSON.parse(readRegularFileSync(join(directory, ENTITY_TYPES_FILE_NAME)));
    const services = isObject(cache) && isObject(cache['services']) ? cache['services'] : {};
    const lists = Object.entries(services).map(
      ([service, types]) => [service, Array.isArray(types) ? types.filter(isNamedType) : []] as const,
    );
    return Object.fromEntries(lists);
  } catch {
    return {};
  }
}

function isNamedType(value: unknown): value is NamedType {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

/**
 * Keeps the entity types of a service for completion. `service` tells services apart, such as a base URL. Resolves to
 * whether it could be kept: a cache that cannot be written fails no command.
 */
export function rememberEntityTypes(system: PathsHost, service: string, types: readonly NamedType[]): boolean {
  const directory = cacheDirectory(system);
  if (directory === undefined) return false;
  const cache = { version: 1, services: { ...readServices(system), [service]: types } };
  try {
    makeDirectory(directory);
    writeFileAtomicSync(join(directory, ENTITY_TYPES_FILE_NAME), `${JSON.stringify(cache)}\n`);
    return true;
  } catch {
    return false;
  }
}
