import { join } from 'node:path';
import type { Suggestion } from '../app/parameter.ts';
import { CONFIG_FILE_NAME, configDirectory, type PathsHost } from '../config/paths.ts';
import { profileNameProblem, SANDBOX_PROFILE } from '../config/values.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { isObject } from '../schema/guards.ts';

/**
 * Names of the stored profiles, and the sandbox. Reads the config file without the mending that a command does to it
 * on the way, and takes nothing from it but names and base URLs.
 */
export function profileNames(system: PathsHost): Suggestion[] {
  const sandbox: Suggestion = [SANDBOX_PROFILE, 'the embedded sandbox'];
  return [...stored(system), sandbox];
}

function stored(system: PathsHost): Suggestion[] {
  try {
    const directory = configDirectory(system);
    if (directory === undefined) return [];
    const config: unknown = JSON.parse(readRegularFileSync(join(directory, CONFIG_FILE_NAME)));
    if (!isObject(config) || !isObject(config['profiles'])) return [];
    return Object.entries(config['profiles'])
      .filter(([name]) => profileNameProblem(name) === undefined)
      .map(([name, profile]) => [name, baseUrl(profile)]);
  } catch {
    return [];
  }
}

function baseUrl(profile: unknown): string {
  const url = isObject(profile) ? profile['base_url'] : undefined;
  return typeof url === 'string' ? url : '';
}
