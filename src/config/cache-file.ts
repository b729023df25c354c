import { join } from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { writeFileAtomicSync } from '../files/draft.ts';
import { readRegularFileSync } from '../files/path.ts';
import { objectOrUndefined } from '../schema/json-value.ts';
import { directoryOf, type PathsHost } from './paths.ts';

/** What a file of the cache directory holds; nothing where there is no readable one. */
export function readCache(system: PathsHost, name: string): Readonly<Record<string, unknown>> {
  try {
    const directory = directoryOf(system, 'cache');
    if (directory === undefined) return {};
    return objectOrUndefined(JSON.parse(readRegularFileSync(join(directory, name)))) ?? {};
  } catch {
    return {};
  }
}

/** Writes a file of the cache directory. @returns whether it could: a cache that cannot be written fails no command */
export function writeCache(system: PathsHost, name: string, content: object): boolean {
  const directory = directoryOf(system, 'cache');
  if (directory === undefined) return false;
  try {
    makeDirectory(directory);
    writeFileAtomicSync(join(directory, name), `${JSON.stringify(content)}\n`);
    return true;
  } catch {
    return false;
  }
}

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
