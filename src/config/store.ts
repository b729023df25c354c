import fs from 'node:fs';
import path from 'node:path';
import { SvcError, systemCodeOf } from '../errors.ts';
import type { LockHost } from '../files/lock.ts';
import {
  closeDirectoryIfPossible,
  ensurePrivateDirectory,
  type Notices,
  readPrivateFile,
} from '../files/private-directory.ts';
import { type Config, configText, emptyConfig, parseConfig, parseConfigBytes } from './document.ts';
import { CONFIG_FILE_NAME, configDirectory, type PathsHost, requireDirectory } from './paths.ts';

/** A config and where it stands. `file` is undefined where there is no place for one (no home directory). */
export interface ConfigFile {
  readonly file: string | undefined;
  /** Whether the file is there. */
  readonly exists: boolean;
  readonly config: Config;
  readonly notices: Notices;
}

const LARGEST_BYTES = 1_000_000;

/**
 * Reads the config file. None, or no place for one, is an empty config (R10). Closes the file and its directory to
 * others and says so in `notices` (R08). Throws `SvcError` `config` for a file that is damaged (R13), cannot be read,
 * or cannot be made private.
 */
export function readConfig(system: PathsHost): ConfigFile {
  const directory = configDirectory(system);
  if (directory === undefined) return { file: undefined, exists: false, config: emptyConfig(), notices: [] };
  const file = path.join(directory, CONFIG_FILE_NAME);
  try {
    return readConfigFile(file);
  } catch (error) {
    const code = systemCodeOf(error);
    // A home that is not ours to enter, as in a container that runs as another user, has no settings for us.
    const absent = code === 'ENOENT' || code === 'ENOTDIR' || (code === 'EACCES' && !canEnter(directory));
    if (!absent || (code === 'EACCES' && system.env['SVC_CONFIG_DIR'])) throw unreadable(file, error);
    return { file, exists: false, config: emptyConfig(), notices: [] };
  }
}

/**
 * Changes the config file: reads it again under a lock, lets `change` alter what was read, and replaces the file
 * whole (R11, R12). Makes file and directory where there are none. Throws what `readConfig` throws, and `local` when
 * the file cannot be written; the old one then stays as it was.
 */
export async function updateConfig(
  system: PathsHost & LockHost,
  change: (config: Config) => void,
): Promise<ConfigFile> {
  const file = path.join(requireDirectory(system, 'config'), CONFIG_FILE_NAME);
  const directoryNotices = ensurePrivateDirectory(path.dirname(file));
  // Only a write needs these.
  const { ConfStore } = await import('./conf-store.ts');
  const { removeOrphanedTemporaries } = await import('../files/replace.ts');
  const { withLock } = await import('../files/lock.ts');
  return withLock(
    `${file}.lock`,
    system,
    () => {
      removeOrphanedTemporaries(file);
      const before = readOrEmpty(file);
      const { config } = before;
      change(config);
      checkChanged(config, file);
      new ConfStore(file).store = config;
      return { file, exists: true, config, notices: [...directoryNotices, ...before.notices] };
    },
    { what: 'the config file' },
  );
}

// A file that we would refuse to read must not be written in the first place.
function checkChanged(config: Config, file: string): void {
  try {
    parseConfig(configText(config), file);
  } catch (error) {
    throw new SvcError('bug', 'a change to the config file would have damaged it; it was not made', {
      cause: error,
    });
  }
}

function readConfigFile(file: string): ConfigFile {
  const { value: config, notices } = readPrivateFile(file, (descriptor) => parse(descriptor, file));
  return {
    file,
    exists: true,
    config,
    notices: [...closeDirectoryIfPossible(path.dirname(file)), ...notices],
  };
}

function readOrEmpty(file: string): ConfigFile {
  try {
    return readConfigFile(file);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw unreadable(file, error);
    return { file, exists: false, config: emptyConfig(), notices: [] };
  }
}

function parse(descriptor: number, file: string): Config {
  if (fs.fstatSync(descriptor).size > LARGEST_BYTES)
    throw new SvcError('config', `${file} is too large to be a config file`, { hint: 'Move it away.' });
  return parseConfigBytes(fs.readFileSync(descriptor), file);
}

function canEnter(directory: string): boolean {
  try {
    fs.accessSync(directory, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function unreadable(file: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  if (error instanceof SvcError || code === undefined) return error;
  return new SvcError('config', `${file} could not be read (${code})`, {
    hint: 'Make it readable for this user, or set SVC_CONFIG_DIR to another directory.',
    cause: error,
  });
}
