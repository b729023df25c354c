import fs from 'node:fs';
import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { RefreshDirectory } from './refresh-directory.ts';

/** Returns the cycles below a directory by name that have begun. Other directories, and records that cannot be read, are left out. */
function cyclesIn(context: Context, parent: string): RefreshDirectory[] {
  const directory = resolvePath(context, parent);
  const entries = fs.existsSync(directory) ? fs.readdirSync(directory, { withFileTypes: true }) : [];
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.toSorted().flatMap((cycle) => {
    const found = new RefreshDirectory(context, parent, cycle);
    try {
      found.read();
      return found.isBegun ? [found] : [];
    } catch (error) {
      if (isSvcError(error, 'config')) return [];
      throw error;
    }
  });
}

/** Returns the names of the cycles below a directory whose files do not have all results yet. */
export function openCycles(context: Context, parent: string): string[] {
  return cyclesIn(context, parent).flatMap(({ record, cycle }) => (record.finished ? [] : [cycle]));
}

/** Returns the cycles below a directory that are not open and were last recorded before a time, in epoch milliseconds. */
export function oldCycles(context: Context, parent: string, before: number): RefreshDirectory[] {
  return cyclesIn(context, parent).filter((directory) => {
    const { mtimeMs } = fs.statSync(directory.resolve(directory.recordFile));
    return mtimeMs < before && directory.record.finished === true;
  });
}
