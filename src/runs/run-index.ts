import fs from 'node:fs';
import path from 'node:path';
import { writeFileAtomicSync } from '../atomic-file.ts';
import { SvcError } from '../errors.ts';
import { makeDirectory } from '../files/directory.ts';
import type { RunDirectory } from './run-directory.ts';
import { type FoundRuns, openRuns } from './run-list.ts';

/** Below the directory of the runs: a small file for each run that is recorded elsewhere (`--run-dir`). */
const INDEX = 'elsewhere';

/** Notes where a run is recorded, so that its file is recognized by whoever has the same runs root. */
export function indexRun(root: string, { path: directory, record: { id: run } }: RunDirectory): void {
  const absolute = path.resolve(directory);
  if (path.dirname(absolute) === path.resolve(root)) return;
  makeDirectory(path.join(root, INDEX));
  const entry = { version: 1, run, directory: absolute };
  writeFileAtomicSync(entryFile(root, run), `${JSON.stringify(entry)}\n`);
}

/** The runs recorded elsewhere; `wants` says of a run's id whether its record is to be read. */
export function indexedRuns(root: string, wants: (id: string) => boolean): FoundRuns {
  const found = indexedIds(root)
    .filter(wants)
    .map((run) => openIndexed(root, run));
  return {
    runs: found.flatMap(({ runs }) => runs),
    unreadable: found.flatMap(({ unreadable }) => unreadable),
  };
}

function openIndexed(root: string, run: string): FoundRuns {
  const entry = entryFile(root, run);
  const directory = directoryIn(entry);
  if (directory === undefined)
    return { runs: [], unreadable: [{ directory: entry, run, error: damaged(entry) }] };
  const { runs, unreadable } = openRuns([directory]);
  return { runs, unreadable: unreadable.map(({ error }) => ({ directory, run, error })) };
}

/** The entries that name a directory; an entry that is damaged is named by its own path. */
export function indexEntriesOf(root: string, directory: string): string[] {
  const entries = indexedIds(root).map((id) => entryFile(root, id));
  return entries.filter((file) => file === directory || directoryIn(file) === path.resolve(directory));
}

function indexedIds(root: string): string[] {
  const directory = path.join(root, INDEX);
  const names = fs.existsSync(directory) ? fs.readdirSync(directory) : [];
  return names.flatMap((name) => /^(run-.*)\.json$/.exec(name)?.[1] ?? []);
}

function entryFile(root: string, id: string): string {
  return path.join(root, INDEX, `${id}.json`);
}

function directoryIn(file: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    const directory = typeof entry === 'object' && entry !== null && 'directory' in entry && entry.directory;
    return typeof directory === 'string' ? directory : undefined;
  } catch {
    return undefined;
  }
}

function damaged(entry: string): SvcError {
  return new SvcError('config', `${entry} is damaged: it does not say where its run is recorded`);
}
