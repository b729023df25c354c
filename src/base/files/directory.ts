import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../errors.ts';
import { syncDirectory } from './durable.ts';
import { refuseWindowsName } from './names.ts';

/**
 * Makes a directory and its missing parents, by default for their owner alone. With `isExact`, ignores the umask. Works level
 * by level, because a recursive mkdir never returns for an impossible directory, such as one under /proc. Flushes each parent,
 * so that a loss of power cannot remove the new directory and the files in it.
 * @throws SvcError `config` where a file has the name of a directory, otherwise `local`
 */
export function makeDirectory(directory: string, mode = 0o700, isExact = mode === 0o700): void {
  refuseWindowsName(directory);
  try {
    makeLevel(directory, mode, isExact);
  } catch (error) {
    throw writeFailure(directory, error);
  }
}

function makeLevel(directory: string, mode: number, isExact: boolean): void {
  // Below a file, statSync throws and existsSync does not.
  if (fs.existsSync(directory) && fs.statSync(directory).isDirectory()) return;
  const parent = path.dirname(directory);
  if (parent !== directory) makeLevel(parent, mode, isExact);
  try {
    fs.mkdirSync(directory, { mode });
    // The umask may also have removed rights of the owner.
    if (isExact) fs.chmodSync(directory, mode);
    syncDirectory(parent);
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
    if (!fs.statSync(directory).isDirectory())
      throw refused(directory, 'is not a directory', 'Move it away, or name another path.', error);
  }
}

const STICKY = 0o1000;

/**
 * Makes a directory, with its missing parents, that only its owner can enter. Closes an existing directory to others (R08).
 * @throws SvcError `config` when the directory cannot be made private, `local` when the directory cannot be made
 */
export function ensurePrivateDirectory(directory: string): Notices {
  try {
    makeDirectory(directory);
    return closeDirectory(directory);
  } catch (error) {
    throw writeFailure(directory, error);
  }
}

/** Closes a directory to others. @throws SvcError `config` for a directory that must not or cannot be closed */
function closeDirectory(directory: string): Notices {
  const link = fs.lstatSync(directory);
  const stats = link.isSymbolicLink() ? fs.statSync(directory) : link;
  if (!stats.isDirectory()) throw refused(directory, 'is not a directory', `Move it away, or set SVC_CONFIG_DIR.`);
  refuseForeign(directory, stats);
  if (!isShared(stats)) return [];
  if (link.isSymbolicLink())
    throw refused(
      directory,
      'is a link to a directory that others can read',
      "Make that directory private with 'chmod 700'.",
    );
  if (isSharedDirectory(directory, stats))
    throw refused(
      directory,
      'can be read by others and contains more than settings',
      `Set SVC_CONFIG_DIR to a separate directory, such as ${path.join(directory, 'svc')}.`,
    );
  closeToOthers(directory, 0o700, (mode) => fs.chmodSync(directory, mode));
  return [`closed ${directory} to others (its mode was ${modeText(stats)})`];
}

/**
 * Closes a directory that svc only reads. Accepts a directory that cannot be closed (on a read-only file system, or shared) if
 * others cannot write to it.
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
function isSharedDirectory(directory: string, stats: fs.Stats): boolean {
  return (
    (stats.mode & STICKY) !== 0 || fs.readdirSync(directory).some((name) => !/^\.?config\.json(\..*)?$/.test(name))
  );
}

/**
 * Reads a private file and passes its bytes to `read`. Closes the file to others first. System errors pass through.
 * @throws SvcError `config` for a symlink, another user's file, a file above `maxBytes`, or anything but a plain file
 */
export function readPrivateFile<T>(
  file: string,
  maxBytes: number,
  read: (bytes: Buffer) => T,
): { value: T; notices: Notices } {
  const descriptor = openPlain(file);
  try {
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) throw refused(file, 'is not a plain file', 'Move it away and run the command again.');
    refuseForeign(file, stats);
    if (stats.size > maxBytes) throw refused(file, 'is too large to be a config file', 'Move it away.');
    const notices: string[] = [];
    if (isShared(stats)) {
      closeToOthers(file, 0o600, (mode) => fs.fchmodSync(descriptor, mode));
      notices.push(
        `closed ${file} to others (its mode was ${modeText(stats)}): replace the keys in it if others may have read them`,
      );
    }
    return { value: read(fs.readFileSync(descriptor)), notices };
  } finally {
    fs.closeSync(descriptor);
  }
}

// With O_NONBLOCK, opening a named pipe does not wait for a writer. Windows has neither flag; undefined counts as 0.
function openPlain(file: string): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  try {
    if (os.platform() === 'win32' && fs.lstatSync(file).isSymbolicLink())
      throw Object.assign(new Error('a link'), { code: 'ELOOP' });
    return fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemCodeOf(error) !== 'ELOOP' && systemCodeOf(error) !== 'EMLINK') throw error;
    throw refused(
      file,
      'is a symbolic link, which a write would cut',
      'Put the file itself there, or set SVC_CONFIG_DIR to the directory that contains it.',
    );
  }
}

/** Notices for stderr about repaired permissions. */
export type Notices = readonly string[];

/** Whether anyone but the owner has access. Always false on Windows, where the mode says nothing. */
export function isShared(stats: fs.Stats): boolean {
  return os.platform() !== 'win32' && (stats.mode & 0o077) !== 0;
}

/** Formats the permission bits, as in 0644. */
export function modeText(stats: fs.Stats): string {
  if (os.platform() === 'win32') return 'access not checked on Windows';
  return (stats.mode & 0o7777).toString(8).padStart(4, '0');
}

/** Throws `SvcError` `config` when a file or directory belongs to another user. */
function refuseForeign(place: string, { uid }: fs.Stats): void {
  if (isForeign(uid))
    throw refused(place, `belongs to another user (${uid})`, `Make it yours (chown), or set SVC_CONFIG_DIR.`);
}

// Accepts files of root, since root can read every file anyway. Windows and some containers cannot name the user; there, a
// chmod of another user's file fails instead.
function isForeign(uid: number): boolean {
  try {
    const own = os.userInfo().uid;
    return own >= 0 && uid !== own && uid !== 0;
  } catch {
    return false;
  }
}

/** Removes the rights of others. @throws SvcError `config` if the system refuses */
function closeToOthers(place: string, mode: number, chmod: (mode: number) => void): void {
  try {
    chmod(mode);
  } catch (error) {
    throw refused(
      place,
      'can be read by others',
      `Make it private with 'chmod ${mode.toString(8)}', as its owner.`,
      error,
    );
  }
}

/** Returns the error for an unsuitable file or directory, with a hint how to fix the problem. */
function refused(place: string, problem: string, hint: string, cause?: unknown): SvcError {
  return new SvcError('config', `${place} ${problem}`, { hint, cause });
}
