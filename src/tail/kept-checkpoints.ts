import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isSvcError } from '../errors.ts';
import { type Subject, writeCheckpoint } from './checkpoint.ts';
import type { Standing } from './state.ts';
import { makeDirectory } from '../files/directory.ts';

const KEPT_MS = 7 * 86_400_000;

/**
 * Keeps the checkpoint of a tail that was given no file for it, and removes those that were not used for seven days.
 * Returns its file, or undefined where none can be written: the tail has ended all the same.
 */
export function keepCheckpoint(
  directory: string,
  subject: Subject,
  standing: Standing,
  now: number,
): string | undefined {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const file = path.join(directory, `${stamp}-${randomBytes(4).toString('hex')}.json`);
  try {
    makeDirectory(directory);
    removeUnused(directory, now - KEPT_MS);
    writeCheckpoint(file, subject, standing);
    return file;
  } catch (error) {
    if (error instanceof Error && (isSvcError(error, 'local') || 'code' in error)) return undefined;
    throw error;
  }
}

// A lock is as old as the tail that holds it: the checkpoint beside it says whether that is in use.
function removeUnused(directory: string, before: number): void {
  for (const name of fs.readdirSync(directory)) {
    const used = fs.statSync(path.join(directory, name.replace(/\.lock$/, '')), { throwIfNoEntry: false });
    if (used === undefined || used.mtimeMs < before) fs.rmSync(path.join(directory, name), { force: true });
  }
}
