import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { isSamePath } from '../../base/files/names.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { isObject } from '../../schema/json-value.ts';
import { entriesIn, type FoundRuns, openRuns } from './run-directory.ts';

/** The folder with a small file for each run that an earlier version recorded elsewhere, in a directory of the operator. */
const INDEX = 'elsewhere';

/** Opens the runs recorded elsewhere whose ids are accepted by `wants`. */
export async function indexedRuns(root: string, wants: (id: string) => boolean): Promise<FoundRuns> {
  const wanted = indexedIds(root).filter(wants);
  const found = await Promise.all(wanted.map((run) => openIndexed(root, run)));
  return { runs: found.flatMap(({ runs }) => runs), unreadable: found.flatMap(({ unreadable }) => unreadable) };
}

async function openIndexed(root: string, run: string): Promise<FoundRuns> {
  const entry = entryFile(root, run);
  const directory = directoryIn(entry);
  if (directory === undefined) {
    const error = new SvcError('config', `${entry} is damaged: it does not say where its run is recorded`);
    return { runs: [], unreadable: [{ directory: entry, run, error }] };
  }
  const { runs, unreadable } = await openRuns([directory]);
  const other = runs.find(({ record }) => record.id !== run);
  if (other) {
    const error = new SvcError('config', `${run} is no longer in ${directory}, where ${other.record.id} is now`, {
      hint: 'If its directory was renamed, submit its file with the new name of the directory.',
      facts: { run, directory },
    });
    return { runs: [], unreadable: [{ directory: entry, run, error }] };
  }
  return { runs, unreadable: unreadable.map(({ error }) => ({ directory, run, error })) };
}

/** Returns the index entries for a directory. A damaged entry is identified by its own path. */
export function indexEntriesOf(root: string, directory: string): string[] {
  const entries = indexedIds(root).map((id) => entryFile(root, id));
  return entries.filter((file) => isSamePath(directoryIn(file) ?? file, directory) || file === directory);
}

function indexedIds(root: string): string[] {
  return entriesIn(path.join(root, INDEX)).flatMap(({ name }) => /^(run-.*)\.json$/.exec(name)?.[1] ?? []);
}

function entryFile(root: string, id: string): string {
  return path.join(root, INDEX, `${id}.json`);
}

function directoryIn(file: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(readRegularFileSync(file));
    const directory = isObject(entry) ? entry['directory'] : undefined;
    return typeof directory === 'string' ? directory : undefined;
  } catch {
    return undefined;
  }
}
