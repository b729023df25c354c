import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../errors.ts';
import { RECORD, RunDirectory } from './run-directory.ts';

/** The runs below a directory, the newest first. One that is damaged is left out, and told of. */
export function listRuns(
  root: string,
  onDamaged: (error: SvcError) => void = () => undefined,
): RunDirectory[] {
  const names = fs.existsSync(root) ? fs.readdirSync(root) : [];
  const runs = names.flatMap((name) => {
    try {
      return RunDirectory.open(path.join(root, name)) ?? [];
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      onDamaged(error);
      return [];
    }
  });
  return runs.toSorted((a, b) => (a.record.created_at < b.record.created_at ? 1 : -1));
}

/** Removes directories of runs that were killed before their first record. Only for who holds the lock to begin runs. */
export function removeUnborn(root: string): void {
  for (const name of fs.readdirSync(root).filter((each) => each.startsWith('run-'))) {
    const directory = path.join(root, name);
    const left = fs.statSync(directory).isDirectory() ? fs.readdirSync(directory) : [name];
    if (left.every((file) => file.startsWith(`.${RECORD}.`))) fs.rmSync(directory, { recursive: true });
  }
}
