import { join } from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { writeFileAtomicSync } from '../files/draft.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { objectOrUndefined } from '../schema/guards.ts';
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
