import { join } from 'node:path';
import { writeFileAtomicSync } from '../atomic-file.ts';
import { cacheDirectory, type PathsHost } from '../config/paths.ts';
import { isObject } from '../render/paths.ts';
import type { TenantFacts } from './check-key.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { makeDirectory } from '../files/directory.ts';

const FILE_NAME = 'tenants.json';

/** The tenant that a profile's key had when it was last looked at, at this base URL; undefined when nobody looked. */
export function knownTenant(system: PathsHost, profile: string, baseUrl: string): TenantFacts | undefined {
  const known = readAll(system)[profile];
  if (!isObject(known) || known['base_url'] !== baseUrl) return undefined;
  const { id, name, type } = known;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof type !== 'string') return undefined;
  return { id, name, type };
}

/** Keeps the tenant of a profile for next time. A cache that cannot be written spoils no command. */
export function rememberTenant(
  system: PathsHost,
  profile: string,
  baseUrl: string,
  tenant: TenantFacts,
): void {
  const directory = cacheDirectory(system);
  if (directory === undefined) return;
  const { id, name, type } = tenant;
  const all = { ...readAll(system), [profile]: { base_url: baseUrl, id, name, type } };
  try {
    makeDirectory(directory);
    writeFileAtomicSync(join(directory, FILE_NAME), `${JSON.stringify(all)}\n`);
  } catch {
    // The next look tells again.
  }
}

function readAll(system: PathsHost): Readonly<Record<string, unknown>> {
  try {
    const directory = cacheDirectory(system);
    const all: unknown =
      directory === undefined ? {} : JSON.parse(readRegularFileSync(join(directory, FILE_NAME)));
    return isObject(all) ? all : {};
  } catch {
    return {};
  }
}
