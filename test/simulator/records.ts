import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from '../../src/au/run/part.ts';
import { openJobs } from '../../src/au/ledger/claims.ts';
import type { ClaimEntry, Entry } from '../../src/au/ledger/entry.ts';
import { parseRecord } from '../../src/au/run/parse-record.ts';
import type { RunRecord } from '../../src/au/run/record.ts';
import type { World } from './world.ts';

/** The tool's state directory, which contains all runs except one that a command puts elsewhere with `--run-dir`. */
export const STATE = '.local/state/svc';
const RUNS = `${STATE}/runs`;
const ELSEWHERE = 'elsewhere';

/** Returns the directories of all runs in a home: the one of `--run-dir` first, then the oldest. */
export function runDirectories(home: string): string[] {
  const root = join(home, RUNS);
  const names = existsSync(root) ? readdirSync(root).filter((name) => name.startsWith('run-')) : [];
  return [join(home, ELSEWHERE), ...names.toSorted().map((name) => join(root, name))].filter(existsSync);
}

/** Returns the directories of the runs that the state directory knows. A restored one may lack that of `--run-dir`. */
export function knownDirectories(home: string): string[] {
  return runDirectories(home).filter((directory) => !directory.endsWith(ELSEWHERE) || isIndexed(home, directory));
}

function isIndexed(home: string, directory: string): boolean {
  const record = recordIn(directory);
  return record !== undefined && existsSync(join(home, RUNS, 'elsewhere', `${record.id}.json`));
}

/** Returns the readable records in a home, and whether others are unreadable. */
export function recordsIn(
  home: string,
  directories = runDirectories(home),
): { readonly records: RunRecord[]; readonly isDamaged: boolean } {
  const found = directories.map(recordIn);
  const records = found.filter((record) => record !== undefined);
  return { records, isDamaged: records.length < found.length };
}

/** Returns the parts of every run whose record is readable. */
export function recordedParts(home: string): Part[] {
  return recordsIn(home).records.flatMap(({ parts }) => parts);
}

/** Returns the current and the earlier jobs of a part. */
export function jobsOf({ job, earlier_jobs: earlier = [] }: Part): string[] {
  const before = earlier.map((each) => each.job);
  return job === undefined ? before : before.concat(job);
}

/** Tells whether nothing of a part can be at the service. */
export function isUntouched(part: Part): boolean {
  return jobsOf(part).length === 0;
}

/** Tells whether every record in a home is readable. */
export function areReadable(home: string): boolean {
  return !recordsIn(home).isDamaged;
}

/** Returns the record in the directory of a run; undefined if it is unreadable. */
function recordIn(directory: string): RunRecord | undefined {
  try {
    return parseRecord(readFileSync(join(directory, 'run.json'), 'utf8'), 'run.json');
  } catch {
    return undefined;
  }
}

/** A claim of a ledger, with the name of its cycle. */
export type Claimed = Pick<ClaimEntry, 'job'> & { readonly cycle: string };

/** Returns the claims in the ledgers of a world, in the order of each cycle. */
export function claimsIn({ homes, sharedLedger }: Pick<World, 'homes' | 'sharedLedger'>): Claimed[] {
  const own = homes.map((home) => join(home, STATE, 'ledger'));
  const cycles = [...own, sharedLedger ?? ''].flatMap((ledger) => Array.from(entriesIn(ledger)));
  return cycles.flatMap(([cycle, entries]) =>
    entries.flatMap((entry) => (entry.kind === 'claim' ? [{ job: entry.job, cycle }] : [])),
  );
}

/** Returns the jobs of a ledger whose results nobody received. */
export function openJobsIn(ledger: string): string[] {
  return [...entriesIn(ledger).values()].flatMap(openJobs);
}

/** Returns the readable entries of each cycle of a ledger. */
function entriesIn(ledger: string): Map<string, Entry[]> {
  const cycles = new Map<string, Entry[]>();
  if (!existsSync(ledger)) return cycles;
  for (const name of readdirSync(ledger, { recursive: true, encoding: 'utf8' }).toSorted()) {
    // What a machine keeps of a shared ledger is a copy.
    const [, cycle] = /^[^/]+\/cycles\/([^/]+)\/\d+\.json$/.exec(name) ?? [];
    const entry = cycle === undefined ? undefined : entryIn(join(ledger, name));
    if (cycle === undefined || !entry) continue;
    const before = cycles.get(cycle);
    if (before) before.push(entry);
    else cycles.set(cycle, [entry]);
  }
  return cycles;
}

function entryIn(file: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Entry;
  } catch {
    return undefined;
  }
}
