import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf, writeFailure } from '../errors.ts';

/**
 * Makes a directory and its parents where they are missing, by default for their owner alone. One level at a time: the
 * recursive mkdir spins for ever on an impossible directory, such as one under /proc.
 * @throws SvcError `local`
 */
export function makeDirectory(directory: string, mode = 0o700): void {
  try {
    makeLevel(directory, mode);
  } catch (error) {
    throw writeFailure(directory, error);
  }
}

function makeLevel(directory: string, mode: number): void {
  if (fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = path.dirname(directory);
  if (parent !== directory) makeLevel(parent, mode);
  try {
    fs.mkdirSync(directory, { mode });
    // The umask may have taken more away than others' rights.
    if (mode === 0o700) fs.chmodSync(directory, mode);
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST' || !fs.statSync(directory).isDirectory()) throw error;
  }
}
