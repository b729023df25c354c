import { join } from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { writeFileAtomicSync } from '../files/replace.ts';
import { cacheDirectory, type PathsHost } from './paths.ts';

/** An entity type and its name for people. */
type NamedType = readonly [value: string, name: string];

/** Entity types that the interface names; the service can have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;

/** The cache file's name in the cache directory. */
export const ENTITY_TYPES_FILE_NAME = 'entity-types.json';

/** The cache as it is stored: entity types with their names for people, by the service that told them. */
export interface EntityTypeCache {
  readonly version: 1;
  readonly services: Readonly<Record<string, readonly NamedType[]>>;
}

/** The entity types that any service told when it was last asked; none where nothing readable is kept. */
export function readEntityTypes(system: PathsHost): NamedType[] {
  return Object.values(readCache(system).services).flat();
}

/** The cache file's content, as far as it is what it should be. */
function readCache(system: PathsHost): EntityTypeCache {
  const services = Object.entries(readServices(system)).map(
    ([service, types]) => [service, Array.isArray(types) ? types.filter(isNamedType) : []] as const,
  );
  return { version: 1, services: Object.fromEntries(services) };
}

function readServices(system: PathsHost): object {
  try {
    const directory = cacheDirectory(system);
    if (directory === undefined) return {};
    const cache: unknown = JSON.parse(readRegularFileSync(join(directory, ENTITY_TYPES_FILE_NAME)));
    if (typeof cache !== 'object' || cache === null || !('services' in cache)) return {};
    return typeof cache.services === 'object' && cache.services !== null ? cache.services : {};
  } catch {
    return {};
  }
}

function isNamedType(value: unknown): value is NamedType {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

/**
 * Keeps what a service told about its entity types, for completion. `service` tells services apart, such as a base
 * URL. Resolves to whether it could be kept: a cache that cannot be written spoils no command.
 */
export function rememberEntityTypes(
  system: PathsHost,
  service: string,
  types: readonly NamedType[],
): boolean {
  const directory = cacheDirectory(system);
  if (directory === undefined) return false;
  const { services } = readCache(system);
  const cache = { version: 1, services: { ...services, [service]: types } };
  try {
    makeDirectory(directory);
    writeFileAtomicSync(join(directory, ENTITY_TYPES_FILE_NAME), `${JSON.stringify(cache)}\n`);
    return true;
  } catch {
    return false;
  }
}
