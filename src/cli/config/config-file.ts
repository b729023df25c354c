import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { SvcError, systemCodeOf } from '../../base/errors.ts';
import {
  closeDirectoryIfPossible,
  ensurePrivateDirectory,
  type Notices,
  readPrivateFile,
} from '../../base/files/directory.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { isExecutable } from '../../base/files/names.ts';
import { type Config, configText, damagedConfig, parseConfig } from './config-format.ts';
import { JsonFault } from './json-text.ts';
import { CONFIG_FILE_NAME, directoryOf, type PathsHost, requireDirectory } from './paths.ts';

/** The content of the config file, and where the file is. */
export interface ConfigFile {
  /** The path; undefined without a home directory. */
  readonly file: string | undefined;
  readonly exists: boolean;
  readonly config: Config;
  readonly notices: Notices;
}

const MAX_BYTES = 1_000_000;

/**
 * Reads the config file. A missing file is an empty config (R10). Makes the file and its directory private, and reports
 * such a change in `notices` (R08).
 * @throws SvcError `config` if the file is damaged (R13), unreadable or cannot be made private
 */
export function readConfig(system: PathsHost): ConfigFile {
  const directory = directoryOf(system, 'config');
  if (directory === undefined) return absent(undefined);
  return readOrAbsent(path.join(directory, CONFIG_FILE_NAME), (code) => {
    if (code === 'EACCES') return isInForeignHome(directory, system.home);
    return code === 'ENOENT' || code === 'ENOTDIR';
  });
}

/**
 * Whether a directory is in a home that this user may not enter, as in a container that runs as another user. Such a home
 * contains no settings of this user. Any other unreadable directory may name the ledger that prevents paying twice.
 */
function isInForeignHome(directory: string, home: string | undefined): boolean {
  return home !== undefined && directory.startsWith(path.join(home, path.sep)) && !isExecutable(home);
}

/**
 * Changes the config file: rereads it under a lock, applies `change`, and replaces the file as a whole (R11, R12).
 * Creates the file and its directory if missing. Throws what `readConfig` throws, and `local` when the file cannot be
 * written; the old file then stays.
 */
export async function updateConfig(
  system: PathsHost & LockHost,
  change: (config: Config) => void,
): Promise<ConfigFile> {
  const file = path.join(requireDirectory(system, 'config'), CONFIG_FILE_NAME);
  const directoryNotices = ensurePrivateDirectory(path.dirname(file));
  const { ConfStore } = await import('./conf-store.ts');
  const { removeOrphanedTemporaries } = await import('../../base/files/draft.ts');
  const { withLock } = await import('../../base/files/lock.ts');
  return withLock(
    `${file}.lock`,
    system,
    () => {
      removeOrphanedTemporaries(file);
      const before = readOrAbsent(file, (code) => code === 'ENOENT');
      const { config } = before;
      change(config);
      checkChanged(config, file);
      new ConfStore(file).store = config;
      return { file, exists: true, config, notices: [...directoryNotices, ...before.notices] };
    },
    { what: 'the config file' },
  );
}

// A config file that svc would refuse to read must never be written.
function checkChanged(config: Config, file: string): void {
  try {
    parseConfig(configText(config), file);
  } catch (error) {
    throw new SvcError('bug', 'refusing to write an invalid config file', { cause: error });
  }
}

function readOrAbsent(file: string, isAbsent: (code: string | undefined) => boolean): ConfigFile {
  try {
    const { value: config, notices } = readPrivateFile(file, MAX_BYTES, (bytes) => parse(bytes, file));
    const repaired = [...closeDirectoryIfPossible(path.dirname(file)), ...notices];
    return { file, exists: true, config, notices: repaired };
  } catch (error) {
    if (isAbsent(systemCodeOf(error))) return absent(file);
    throw unreadable(file, error);
  }
}

function absent(file: string | undefined): ConfigFile {
  return { file, exists: false, config: { version: 1, profiles: {} }, notices: [] };
}

function parse(bytes: Buffer, file: string): Config {
  const content = bytes.toString('utf8');
  if (isUtf8(bytes)) return parseConfig(content, file);
  throw damagedConfig(file, content, new JsonFault(content.indexOf('\uFFFD'), 'it is not UTF-8'));
}

function unreadable(file: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  if (error instanceof SvcError || code === undefined) return error;
  return new SvcError('config', `${file} could not be read (${code})`, {
    hint: 'Make it readable for this user, or set SVC_CONFIG_DIR to another directory.',
    cause: error,
  });
}
