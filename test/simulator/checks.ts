import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES } from '../../src/base/errors.ts';
import { RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import { uploadsTaken } from '../au/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { areReadable, jobsOf, recordedParts } from './records.ts';
import type { World } from './world.ts';

const KNOWN_CODES: ReadonlySet<number> = new Set([0, ...Object.values(EXIT_CODES)]);

/** A command ends as it is documented to; nothing here is a failure of the machine, nor of who types. */
export function checkEnd(
  argv: readonly string[],
  { code, stderr }: Ended,
  { faults = [], fullAt, keys }: Circumstances,
): void {
  if (code === undefined || (code === 1 && fullAt !== undefined)) return;
  // By the clock of such a service every time is in the future.
  if (code === 2 && faults.some((fault) => fault.startsWith('date='))) return;
  // What was printed for one tenant means nothing to another.
  if (code === 2 && keys === 'theirs' && argv.includes('--adopt')) return;
  if (code === 1 && stderr.includes('does not exist (ENOENT)')) return;
  // What was abandoned is not resumed unasked.
  if (code === 2 && stderr.includes('was abandoned')) return;
  // Nothing is replaced unasked.
  if (code === 2 && stderr.includes('.csv exists')) return;
  if (!KNOWN_CODES.has(code) || code === 1 || code === 2)
    throw new Error(`'svc ${argv.join(' ')}' ended with exit code ${code}: ${stderr}`);
}

/** Keys stay out of what is printed, and at their host. */
export function checkNothingLeaked(world: World, { stdout, stderr }: Ended): void {
  if (/(sandbox|their|rotated)-(private|management)-key/.test(stdout + stderr)) throw new Error('a key was printed');
  if (/signature=[\w-]{8}/.test(stdout + stderr)) throw new Error('a signed address was printed');
  const leaks = [...world.adversary.leaks, ...world.network.strangers];
  if (leaks.length > 0) throw new Error(`what nobody may reach was reached: ${leaks.join(', ')}`);
}

/** What is submitted, and what that is prepared from. */
const REQUEST_FILES: ReadonlySet<string> = new Set(['tokens.csv', 'other.csv', 'export.csv']);

/** Result files are those of the service. */
export function checkResultFiles(world: World): void {
  // What nobody can compare may be delivered.
  if (recordedParts(world.home).some(({ results }) => results?.compared === false)) return;
  const results = [world.ours, world.theirs].flatMap(resultsOf);
  for (const name of readdirSync(world.home)) {
    if (!name.endsWith('.csv') || REQUEST_FILES.has(name)) continue;
    const kept = readFileSync(join(world.home, name), 'utf8');
    if (!isMadeOf(kept, results)) throw new Error(`${name} is not what the service made`);
  }
}

/** Whether a file is one of these, or several of them below one header. */
function isMadeOf(file: string, results: readonly string[]): boolean {
  if (results.includes(file)) return true;
  return results.some((result) => {
    const isFirst = result !== headed('') && file.startsWith(result);
    return isFirst && isMadeOf(headed(file.slice(result.length)), results);
  });
}

function headed(rows: string): string {
  return `${RESULT_COLUMNS.join(',')}\n${rows}`;
}

/** A job that was created is on record: one for nothing is made where it cannot be used, such as at another tenant. */
export function checkCreations(
  world: World,
  { code, process, stderr }: Ended,
  { ending, fullAt, faults = [] }: Circumstances,
): void {
  if (code === undefined || ending !== undefined || fullAt !== undefined || !areReadable(world.home)) return;
  // A list that is empty, or cannot be had, says nothing of whose the key is.
  if (faults.length > 0 || world.adversary.isTroubled) return;
  // What may have been submitted before is not submitted again: the job that found that out gets no file.
  if (stderr.includes('no record names')) return;
  const known = new Set(recordedParts(world.home).flatMap(jobsOf));
  const lost = world.adversary.created.get(process)?.find((job) => !known.has(job));
  if (lost !== undefined) throw new Error(`job ${lost} was created for nothing`);
}

function resultsOf(directory: string): string[] {
  const files = join(directory, 'files');
  const jobs = new Set(uploadsTaken(directory));
  const paths = Array.from(jobs, (job) => join(files, `result-${job}.csv`));
  return paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
}
