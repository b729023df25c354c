import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from '../../src/au/run/part.ts';
import { parseRecord } from '../../src/au/run/parse-record.ts';
import type { RunRecord } from '../../src/au/run/record.ts';

/** Where the tool keeps what it knows, and there the runs; the last only with `--run-dir`. */
export const STATE = '.local/state/svc';
const RUNS = `${STATE}/runs`;
const ELSEWHERE = 'elsewhere';

/** The directories of the runs that a home has, the oldest first. */
export function runDirectories(home: string): string[] {
  const root = join(home, RUNS);
  const names = existsSync(root) ? readdirSync(root).filter((name) => name.startsWith('run-')) : [];
  return [join(home, ELSEWHERE), ...names.toSorted().map((name) => join(root, name))].filter(existsSync);
}

/** Those that the state directory knows: a restored copy of it does not know of every run elsewhere. */
export function knownDirectories(home: string): string[] {
  return runDirectories(home).filter((directory) => !directory.endsWith(ELSEWHERE) || isIndexed(home, directory));
}

function isIndexed(home: string, directory: string): boolean {
  const record = recordIn(directory);
  return record !== undefined && existsSync(join(home, RUNS, 'elsewhere', `${record.id}.json`));
}

/** The records in a home that can be read, and whether there are others. */
export function recordsIn(
  home: string,
  directories = runDirectories(home),
): { readonly records: RunRecord[]; readonly isDamaged: boolean } {
  const found = directories.map(recordIn);
  const records = found.filter((record) => record !== undefined);
  return { records, isDamaged: records.length < found.length };
}

/** The parts of every run whose record can be read. */
export function recordedParts(home: string): Part[] {
  return recordsIn(home).records.flatMap(({ parts }) => parts);
}

/** The jobs that a part has, or had. */
export function jobsOf({ job, earlier_jobs: earlier = [] }: Part): string[] {
  const before = earlier.map((each) => each.job);
  return job === undefined ? before : before.concat(job);
}

/** Whether nothing of a part can be at the service. */
export function isUntouched(part: Part): boolean {
  return jobsOf(part).length === 0;
}

/** Whether every record in a home can be read. */
export function areReadable(home: string): boolean {
  return !recordsIn(home).isDamaged;
}

/** The record in the directory of a run, where it can be read. */
function recordIn(directory: string): RunRecord | undefined {
  try {
    return parseRecord(readFileSync(join(directory, 'run.json'), 'utf8'), 'run.json');
  } catch {
    return undefined;
  }
}
