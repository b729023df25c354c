import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../errors.ts';
import { RECORD, RunDirectory } from './run-directory.ts';

/** A run whose record cannot be read: what it has at the service is not known here. */
export interface UnreadableRun {
  readonly directory: string;
  /** Its id, where it is known. */
  readonly run?: string | undefined;
  readonly error: SvcError;
}

/** Runs as they are found on disk, the newest first. */
export interface FoundRuns {
  readonly runs: readonly RunDirectory[];
  readonly unreadable: readonly UnreadableRun[];
}

/** The runs below a directory; `wants` says of a name whether its record is to be read. */
export function listRuns(root: string, wants: (name: string) => boolean = () => true): FoundRuns {
  const names = runNames(root).filter(wants);
  return openRuns(names.map((name) => path.join(root, name)));
}

/** Opens runs by their directories. One that was killed before its first record is none. */
export function openRuns(directories: readonly string[]): FoundRuns {
  const runs: RunDirectory[] = [];
  const unreadable: UnreadableRun[] = [];
  for (const directory of directories) {
    try {
      const run = RunDirectory.open(directory);
      if (run) runs.push(run);
      else if (!isUnborn(directory)) unreadable.push({ directory, error: missingRecord(directory) });
    } catch (error) {
      if (!isSvcError(error)) throw error;
      unreadable.push({ directory, error });
    }
  }
  return { runs: newestFirst(runs), unreadable };
}

/** Runs by the time of their creation, the newest first. */
export function newestFirst(runs: readonly RunDirectory[]): RunDirectory[] {
  return runs.toSorted((a, b) => (a.record.created_at < b.record.created_at ? 1 : -1));
}

/** Removes directories of runs that were killed before their first record. Only for who holds the lock to begin runs. */
export function removeUnborn(root: string): void {
  for (const name of runNames(root)) {
    const directory = path.join(root, name);
    if (isUnborn(directory)) fs.rmSync(directory, { recursive: true });
  }
}

/** Other names below the directory are none of ours. */
function runNames(root: string): string[] {
  const entries = fs.existsSync(root) ? fs.readdirSync(root, { withFileTypes: true }) : [];
  return entries.filter((entry) => entry.name.startsWith('run-') && !entry.isFile()).map(({ name }) => name);
}

function isUnborn(directory: string): boolean {
  return (
    fs.existsSync(directory) && fs.readdirSync(directory).every((name) => name.startsWith(`.${RECORD}.`))
  );
}

function missingRecord(directory: string): SvcError {
  return new SvcError('config', `${path.join(directory, RECORD)} is missing`, {
    hint: 'Put it back if it was moved.',
  });
}
