import fs from 'node:fs';
import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { statusOf } from '../run/record.ts';
import { RefreshDirectory, runHere } from './refresh-directory.ts';

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
export async function openCycles(context: Context, parent: string): Promise<string[]> {
  const open: string[] = [];
  for (const directory of readableCycles(context, parent))
    if (await isOpenCycle(context, directory)) open.push(directory.cycle);
  return open;
}

/** Returns the cycles below a directory that are not open and were last recorded before a time, in epoch milliseconds. */
export async function oldCycles(context: Context, parent: string, before: number): Promise<RefreshDirectory[]> {
  const old: RefreshDirectory[] = [];
  for (const directory of readableCycles(context, parent)) {
    const { mtimeMs } = fs.statSync(directory.resolve(directory.record));
    if (mtimeMs < before && !(await isOpenCycle(context, directory))) old.push(directory);
  }
  return old;
}

async function isOpenCycle(context: Context, directory: RefreshDirectory): Promise<boolean> {
  return directory.steps.writing === true || (await openRequests(context, directory)) > 0;
}

/** Counts the requests of a cycle whose results its files do not have. An abandoned one is over. */
export async function openRequests(context: Context, { requests }: RefreshDirectory): Promise<number> {
  let open = 0;
  for (const { run, report_of: of } of requests) {
    if (run === undefined || of !== undefined) continue;
    const recorded = await runHere(context, run);
    if (recorded === undefined || statusOf(recorded.record) !== 'abandoned') open += 1;
  }
  return open;
}
