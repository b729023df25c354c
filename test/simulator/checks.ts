import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES } from '../../src/errors.ts';
import { uploadsTaken } from '../account-updater/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import type { World } from './world.ts';

/** What the operator let be paid for. */
export interface Permitted {
  /** Names under which the file was submitted; each is paid for once. */
  readonly cycles: Set<string>;
  /** How often the operator said that it is to be submitted whatever was before. */
  again: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set([0, ...Object.values(EXIT_CODES)]);

/** A command ends as it is documented to; nothing here is a failure of the machine, nor of who types. */
export function checkEnd(argv: readonly string[], { code, stderr }: Ended, { faults = [] }: Circumstances): void {
  if (code === undefined) return;
  // By the clock of such a service every time is in the future.
  if (code === 2 && faults.some((fault) => fault.startsWith('date='))) return;
  // Nothing is replaced unasked.
  if (code === 2 && stderr.includes('.csv exists')) return;
  if (!KNOWN_CODES.has(code) || code === 1 || code === 2)
    throw new Error(`'svc ${argv.join(' ')}' ended with exit code ${code}: ${stderr}`);
}

/** Keys stay out of what is printed, and at their host. */
export function checkNothingLeaked(world: World, { stdout, stderr }: Ended, keys: readonly string[]): void {
  for (const key of keys) if (stdout.includes(key) || stderr.includes(key)) throw new Error('a key was printed');
  if (/signature=[\w-]{8}/.test(stdout + stderr)) throw new Error('a signed address was printed');
  const leaks = [...world.adversary.leaks, ...world.network.strangers];
  if (leaks.length > 0) throw new Error(`what nobody may reach was reached: ${leaks.join(', ')}`);
}

/** Each tenant pays once for each cycle, and result files are those of the service. */
export function checkUploads(world: World, { cycles, again }: Permitted): void {
  const most = Math.max(1, cycles.size) + again;
  for (const directory of [world.ours, world.theirs]) {
    // The first was there before.
    const count = uploadsTaken(directory).length - 1;
    if (count > most) throw new Error(`the file was taken ${count} times, of which ${most} were wanted`);
  }
  for (const name of readdirSync(world.home)) {
    if (!name.endsWith('.csv') || name === 'tokens.csv') continue;
    const kept = readFileSync(join(world.home, name));
    const results = [world.ours, world.theirs].flatMap(resultsOf);
    if (!results.some((result) => kept.equals(result))) throw new Error(`${name} is not what the service made`);
  }
}

function resultsOf(directory: string): Buffer[] {
  const files = join(directory, 'files');
  const jobs = new Set(uploadsTaken(directory));
  const paths = Array.from(jobs, (job) => join(files, `result-${job}.csv`));
  return paths.filter((path) => existsSync(path)).map((path) => readFileSync(path));
}
