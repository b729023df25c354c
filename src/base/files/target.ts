import fs from 'node:fs';
import nodePath from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../errors.ts';
import { copyFlushed, syncDirectory, whileBusy } from './durable.ts';
import { refuseWindowsName } from './names.ts';

/** The kind of thing at the path where a file is to be written. */
export type Target =
  /** A regular file, or nothing yet; `path` is resolved, so that writing keeps a symlink. */
  | { readonly kind: 'file'; readonly path: string }
  /** A named pipe or a device, which receives the bytes directly. */
  | { readonly kind: 'pipe' | 'device'; readonly path: string };

/** Inspects a target before any request. @throws SvcError `usage` when it exists and may not be overwritten */
export async function inspectTarget(path: string, overwrite: boolean): Promise<Target> {
  refuseWindowsName(path);
  const stat = await fs.promises.stat(path).catch(() => undefined);
  if (stat?.isFIFO()) return { kind: 'pipe', path };
  if (stat?.isCharacterDevice()) return { kind: 'device', path };
  if (stat && !stat.isFile()) throw new SvcError('usage', `${path} is not a file`, { hint: 'Give a file name.' });
  try {
    if (!overwrite && (stat || isTaken(path))) throw existsError(path);
    await fs.promises.access(nodePath.dirname(path), fs.constants.W_OK);
  } catch (error) {
    throw writeFailure(path, error);
  }
  return { kind: 'file', path: stat ? await fs.promises.realpath(path) : path };
}

/**
 * Gives a finished file its name, in one step. Without `overwrite` a file that appeared meanwhile stays.
 * @throws SvcError `usage` when the name is taken, `local` when the disk refuses
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

/** Error codes of file systems without hard links; `EISDIR` is that of exFAT on Windows. */
export const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR']);

/**
 * Renames a flushed file if the new name is free; false if it is taken. Of several writers, even on different machines,
 * exactly one succeeds: a link fails on a taken name, which a rename would silently replace.
 */
export function linkUnlessTaken(from: string, to: string): boolean {
  try {
    if (!linkIfFree(from, to)) return false;
  } catch (error) {
    if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
    // A file system without hard links needs a check before the rename, and another writer may come in between.
    if (isTaken(to)) return false;
    whileBusy(() => fs.renameSync(from, to));
  }
  whileBusy(() => fs.rmSync(from, { force: true }));
  return true;
}

/** Gives a flushed file a second name, if that is free. System errors pass through, such as those in `NO_LINKS`. */
export function linkIfFree(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    // A lost race for the name comes back as EPERM from sshfs, as if there were no hard links.
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

// A dangling link takes the name as well.
function isTaken(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function existsError(path: string): SvcError {
  return new SvcError('usage', `${path} exists`, { hint: 'Give another name, or allow it to be replaced.' });
}
