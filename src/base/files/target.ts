import fs from 'node:fs';
import nodePath from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../errors.ts';
import { copyFlushed, syncDirectory, whileBusy } from './durable.ts';
import { refuseWindowsName } from './names.ts';

/** The kind of the file at the path of an output. */
export type Target =
  /** A regular file, or no file yet. `path` is resolved, so that writing keeps a symlink. */
  | { readonly kind: 'file'; readonly path: string }
  /** A named pipe or a device, which receives the bytes directly. */
  | { readonly kind: 'pipe' | 'device'; readonly path: string };

/**
 * Inspects a target before any request.
 * @throws SvcError `usage` if the target exists without `overwrite`, `local` if it cannot be written
 */
export async function inspectTarget(path: string, overwrite: boolean): Promise<Target> {
  refuseWindowsName(path);
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (stat?.isFIFO()) return { kind: 'pipe', path };
    if (stat?.isCharacterDevice()) return { kind: 'device', path };
    if (stat && !stat.isFile()) throw new SvcError('usage', `${path} is not a file`, { hint: 'Give a file name.' });
    if (!overwrite && (stat || isTaken(path))) throw existsError(path);
    // The dot refuses a file in the place of the directory.
    const directory = `${nodePath.dirname(path)}${nodePath.sep}.`;
    await fs.promises.access(directory, fs.constants.W_OK | fs.constants.X_OK);
    return { kind: 'file', path: stat ? await fs.promises.realpath(path) : path };
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/**
 * Renames a finished draft to its target, in one step.
 * @throws SvcError `usage` if the target exists without `overwrite`, else `local`
 */
export function moveIntoPlace(draft: string, target: string, overwrite: boolean): void {
  try {
    if (!overwrite && !linkUnlessTaken(draft, target)) throw existsError(target);
    if (overwrite) whileBusy(() => fs.renameSync(draft, target));
    syncDirectory(nodePath.dirname(target));
  } catch (error) {
    throw writeFailure(target, error);
  }
}

/** Error codes of file systems without hard links. exFAT on Windows has `EISDIR`. */
export const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR']);

/**
 * Renames a flushed file if the new name is free. Returns false if another file has the name. Of several writers, even on
 * different machines, exactly one succeeds: a link fails for an existing name, which a rename would silently replace.
 */
export function linkUnlessTaken(from: string, to: string): boolean {
  try {
    if (!linkIfFree(from, to)) return false;
  } catch (error) {
    if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
    // Without hard links, another writer may create the file between the check and the rename.
    if (isTaken(to)) return false;
    whileBusy(() => fs.renameSync(from, to));
  }
  whileBusy(() => fs.rmSync(from, { force: true }));
  return true;
}

/** Gives a flushed file a second name, if the name is free. System errors pass through, including `NO_LINKS`. */
export function linkIfFree(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    // sshfs reports an existing name as EPERM, like a file system without hard links.
    if (systemCodeOf(error) === 'EEXIST' || isTaken(to)) return false;
    throw error;
  }
}

/** Gives a flushed file a second name, or copies it on a file system without hard links. @throws SvcError `local` */
export function linkOrCopy(from: string, to: string): void {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw writeFailure(to, error);
    copyFlushed(from, to);
  }
}

// A dangling link also occupies the name.
function isTaken(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function existsError(path: string): SvcError {
  return new SvcError('usage', `${path} exists`, { hint: 'Give another name, or allow it to be replaced.' });
}
