import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES } from '../../src/base/errors.ts';
import { RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import { uploadsTaken } from '../au/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { claimsIn, keptJobs } from './records.ts';
import type { World } from './world.ts';

const KNOWN_CODES: ReadonlySet<number> = new Set([0, ...Object.values(EXIT_CODES)]);

/** Throws if a command ends with an undocumented exit code, or blames the machine or the user without cause. */
export function checkEnd(
  argv: readonly string[],
  { code, stderr }: Ended,
  { faults = [], fullAt }: Circumstances,
): void {
  if (code === undefined || (code === 1 && fullAt !== undefined)) return;
  // If the clock of the service is wrong, times in options are in its future, which is a usage error.
  if (code === 2 && faults.some((fault) => fault.startsWith('date='))) return;
  if (code === 1 && stderr.includes('does not exist')) return;
  // The tool does not replace an existing file without --force.
  if (code === 2 && stderr.includes('.csv exists')) return;
  if (!KNOWN_CODES.has(code) || code === 1 || code === 2)
    throw new Error(`'svc ${argv.join(' ')}' ended with exit code ${code}: ${stderr}`);
}

/** The longest time of a command that waits for nothing, with all its attempts. */
const MAX_MS = 3_600_000;

/** Throws if a command takes very long that was not told to wait. */
export function checkDuration(argv: readonly string[], { tookMs }: Ended): void {
  const isRefresh = argv[1] === 'refresh' && !argv.includes('--no-wait');
  const waits = isRefresh || argv.includes('--wait') || argv[0] !== 'au';
  if (!waits && tookMs > MAX_MS) throw new Error(`'svc ${argv.join(' ')}' took ${tookMs / MAX_MS} hours`);
}

/** Throws if a key or signed address was printed, a key left its host, or an unknown address was contacted. */
export function checkNothingLeaked(world: World, { stdout, stderr }: Ended): void {
  if (/(sandbox|their|rotated)-(private|management)-key/.test(stdout + stderr)) throw new Error('a key was printed');
  if (/signature=[\w-]{8}/.test(stdout + stderr)) throw new Error('a signed address was printed');
  const leaks = [...world.adversary.leaks, ...world.network.strangers];
  if (leaks.length > 0) throw new Error(`what nobody may reach was reached: ${leaks.join(', ')}`);
}

/** The request files, and the export from which one is prepared. */
const REQUEST_FILES: ReadonlySet<string> = new Set(['tokens.csv', 'other.csv', 'export.csv']);

/** Throws if a result file in a home has a line that the service did not make. */
export function checkResultFiles(world: World): void {
  const lines = new Set([world.ours, world.theirs].flatMap(resultsOf).flatMap((text) => text.split('\n')));
  for (const home of world.homes) checkResultsIn(home, lines);
}

function checkResultsIn(home: string, lines: ReadonlySet<string>): void {
  for (const name of readdirSync(home)) {
    // Left-out rows whose result is an error are a request file too.
    if (!name.endsWith('.csv') || name.endsWith('.fix.csv') || REQUEST_FILES.has(name)) continue;
    // Results of a file whose rows are in several jobs have lines of each, and not those of other rows.
    const strange = readFileSync(join(home, name), 'utf8')
      .split('\n')
      .find((line) => !lines.has(line) && line !== RESULT_COLUMNS.join(','));
    if (strange !== undefined) throw new Error(`${name} is not what the service made: ${strange}`);
  }
}

/** Throws if a command created a job that no machine keeps and no ledger names, and nothing in this world explains that. */
export function checkCreations(
  world: World,
  { code, process, home, stderr, hadCompany }: Ended,
  { ending, fullAt, faults = [] }: Circumstances,
): void {
  // Another process may get the rows after a job was created for them.
  if (hadCompany) return;
  if (code === undefined || ending !== undefined || fullAt !== undefined) return;
  // Without a true list of jobs, the tool cannot know whose key it has, and may create a job in vain.
  if (faults.length > 0 || world.adversary.isTroubled) return;
  // A new job gets no file once its creation shows that the rows may have been submitted before.
  if (stderr.includes('the ledger does not know')) return;
  const claimed = claimsIn(world);
  const known = new Set([...keptJobs(home), ...claimed].map(({ job }) => job));
  const lost = world.adversary.created.get(process)?.filter((job) => !known.has(job)) ?? [];
  // One job without a file may be made for a cycle, to prove that another one was removed.
  const most = Math.max(new Set(claimed.map(({ cycle }) => cycle)).size, 1);
  if (lost.length > most) throw new Error(`jobs ${lost.join(', ')} were created for nothing`);
}

function resultsOf(directory: string): string[] {
  const files = join(directory, 'files');
  const jobs = new Set(uploadsTaken(directory));
  const paths = Array.from(jobs, (job) => join(files, `result-${job}.csv`));
  return paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
}
