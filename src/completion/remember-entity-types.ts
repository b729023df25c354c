import { join } from 'node:path';
import { writeFileAtomicSync } from '../atomic-file.ts';
import type { Suggestion } from '../cli/parameter.ts';
import { cacheDirectory, type PathsHost } from '../config/paths.ts';
import { ENTITY_TYPES_FILE_NAME, readCache } from './entity-type-cache.ts';
import { makeDirectory } from '../files/directory.ts';

/**
 * Keeps what a service told about its entity types, for completion. `service` tells services apart, such as a base
 * URL. Resolves to whether it could be kept: a cache that cannot be written spoils no command.
 */
export function rememberEntityTypes(
  system: PathsHost,
  service: string,
  types: readonly Suggestion[],
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
