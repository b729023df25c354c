import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { writeFailure } from '../write-failure.ts';
import {
  closeToOthers,
  isForeign,
  isShared,
  modeText,
  refused,
  refuseForeign,
  type Notices,
} from './privacy.ts';

const STICKY = 0o1000;

/**
 * Makes a directory that only its owner can enter, with any parents, and closes an existing one to others (R08).
 * Throws `SvcError`: `config` when it cannot be made private, `local` when it cannot be made at all.
 */
export function ensurePrivateDirectory(directory: string): Notices {
  try {
    makeDirectory(directory);
    return closeDirectory(directory);
  } catch (error) {
    throw writeFailure(directory, error);
  }
}

/** Closes an existing directory to others, or throws `SvcError` `config` where that is not ours to do. */
function closeDirectory(directory: string): Notices {
  const link = fs.lstatSync(directory);
  const found = link.isSymbolicLink() ? fs.statSync(directory) : link;
  if (!found.isDirectory())
    throw refused(directory, 'is not a directory', `Move it away, or set SVC_CONFIG_DIR.`);
  refuseForeign(directory, found);
  if (!isShared(found)) return [];
  if (link.isSymbolicLink())
    throw refused(
      directory,
      'is a link to a directory that others can read',
      `Run 'chmod 700 ${directory}/'.`,
    );
  if (isCommonPlace(directory, found))
    throw refused(
      directory,
      'can be read by others and holds more than settings',
      `Set SVC_CONFIG_DIR to a directory of its own, such as ${path.join(directory, 'svc')}.`,
    );
  closeToOthers(directory, 0o700, (mode) => fs.chmodSync(directory, mode));
  return [`closed ${directory} to others (its mode was ${modeText(found)})`];
}

/**
 * The same for a directory that is only read from: one that cannot be closed (a read-only file system, a place shared
 * with others) will do as long as others cannot put files there.
 */
export function closeDirectoryIfPossible(directory: string): Notices {
  try {
    return closeDirectory(directory);
  } catch (error) {
    const { mode, uid } = fs.statSync(directory);
    const othersMayWrite = (mode & 0o022) !== 0 && (mode & STICKY) === 0;
    if (othersMayWrite || isForeign(uid)) throw error;
    return [];
  }
}

// Closing /tmp or a home directory would harm more than it protects.
function isCommonPlace(directory: string, found: fs.Stats): boolean {
  return (
    (found.mode & STICKY) !== 0 ||
    fs.readdirSync(directory).some((name) => !/^\.?config\.json(\..*)?$/.test(name))
  );
}
