import fs from 'node:fs';
import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { RefreshDirectory } from './refresh-directory.ts';

/** Returns the cycles below a directory by name. Other directories, and records that cannot be read, are left out. */
function readableCycles(context: Context, parent: string): RefreshDirectory[] {
  const directory = resolvePath(context, parent);
  const entries = fs.existsSync(directory) ? fs.readdirSync(directory, { withFileTypes: true }) : [];
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.toSorted().flatMap((cycle) => {
    const found = new RefreshDirectory(context, parent, cycle);
    try {
      found.read();
      return found.requests.length > 0 ? [found] : [];
    } catch (error) {
      if (isSvcError(error, 'config')) return [];
      throw error;
    }
  });
}

/**
 * Returns the names of the cycles below a directory that are to be gone on with: a request is under way, or a kill came while
 * their files were written.
 */
export function openCycles(context: Context, parent: string): string[] {
  return readableCycles(context, parent).flatMap((directory) => (isOpenCycle(directory) ? [directory.cycle] : []));
}

/** Returns the cycles below a directory that are not open and were last recorded before a time, in epoch milliseconds. */
export function oldCycles(context: Context, parent: string, before: number): RefreshDirectory[] {
  return readableCycles(context, parent).filter((directory) => {
    const { mtimeMs } = fs.statSync(directory.resolve(directory.record));
    return mtimeMs < before && !isOpenCycle(directory);
  });
}

function isOpenCycle(directory: RefreshDirectory): boolean {
  return directory.steps.writing === true || openRequests(directory) > 0;
}

/** Counts the requests of a cycle whose results its files do not have. */
export function openRequests({ requests }: Pick<RefreshDirectory, 'requests'>): number {
  return requests.filter(({ submitted, report_of: of }) => submitted && of === undefined).length;
}
