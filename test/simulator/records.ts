import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRecord, type RunPart, type RunRecord } from '../../src/account-updater/record.ts';

/** Where runs are recorded in a home; the second only with `--run-dir`. */
const RUNS = '.local/state/svc/runs';
const ELSEWHERE = 'elsewhere';

/** The directories of the runs that a home has, the oldest first. */
export function runDirectories(home: string): string[] {
  const root = join(home, RUNS);
  const names = existsSync(root) ? readdirSync(root).filter((name) => name.startsWith('run-')) : [];
  return [join(home, ELSEWHERE), ...names.toSorted().map((name) => join(root, name))].filter(existsSync);
}

/** The parts of every run whose record can be read. */
export function recordedParts(home: string): RunPart[] {
  return runDirectories(home).flatMap((directory) => recordIn(directory)?.parts ?? []);
}

/** The jobs that a part has, or had. */
export function jobsOf({ job, earlier_jobs: earlier = [] }: RunPart): string[] {
  const before = earlier.map((each) => each.job);
  return job === undefined ? before : before.concat(job);
}

/** Whether every record in a home can be read. */
export function areReadable(home: string): boolean {
  return runDirectories(home).every((directory) => recordIn(directory) !== undefined);
}

function recordIn(directory: string): RunRecord | undefined {
  try {
    return parseRecord(readFileSync(join(directory, 'run.json'), 'utf8'), 'run.json');
  } catch {
    return undefined;
  }
}
