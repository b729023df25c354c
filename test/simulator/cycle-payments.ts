import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { uploadsTaken } from '../au/support.ts';
import { checkCycleResults, checkFileResults, tokenOf } from './cycle-results.ts';
import { CYCLE } from './cycles.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { claimsIn, recordsIn, runDirectories } from './records.ts';
import type { World } from './world.ts';

interface Delivered {
  readonly file: string;
  readonly rows: readonly string[];
}

/** Checks that each tenant pays once per token, merchant and cycle, whatever machine sends the row. */
export class CyclePayments {
  readonly #world: World;
  constructor(world: World) {
    this.#world = world;
  }

  /** Notes a command before it runs. Returns the rows of the file that it submits. */
  note(argv: readonly string[], home: string): readonly string[] {
    return argv[1] === 'submit' ? rowsOf(resolve(home, argv[2] ?? '')) : [];
  }

  /** Checks that a command billed no row too often, and that a file counted as submitted was really sent. */
  check(argv: readonly string[], rows: readonly string[], ended: Ended, keys: Circumstances['keys']): void {
    const [unclaimed] = this.#world.adversary.unclaimed;
    if (unclaimed !== undefined) throw new Error(`the upload to job ${unclaimed} began, and no ledger had its claim`);
    for (const directory of [this.#world.ours, this.#world.theirs])
      for (const [key, jobs] of this.#takenAt(directory)) {
        const paid = this.#paid(jobs);
        if (paid.length > 1) throw new Error(`row ${key} was paid for ${paid.length} times: ${paid.join(' ')}`);
      }
    if (ended.code !== 0) return;
    const sent = this.#takenAt(keys === 'theirs' ? this.#world.theirs : this.#world.ours);
    const jobsOf = (row: string): readonly string[] | undefined => sent.get(`${cycleOf(argv)} ${keyOf(row)}`);
    const missing = argv[1] === 'submit' ? rows.find((row) => jobsOf(row) === undefined) : undefined;
    if (missing !== undefined) throw new Error(`row ${missing} was never sent, and the file counts as submitted`);
    const delivered = keys === undefined ? this.#delivered(argv, rows, ended) : undefined;
    if (delivered !== undefined) {
      const jobOf = (row: string): string | undefined => this.#paid(sent.get(`${CYCLE} ${keyOf(row)}`) ?? []).at(-1);
      const but = `'svc ${argv.join(' ')}' ended with 0, but the results are others`;
      checkFileResults(this.#world, delivered.file, delivered.rows, { jobOf, but });
    }
    if (argv[1] !== 'resume' || argv[2] !== CYCLE || ended.hadCompany) return;
    const ofCycle = [...sent].flatMap(([key, jobs]) => (key.startsWith(`${CYCLE} `) ? this.#paid(jobs) : []));
    checkCycleResults(this.#world, argv, { ended, jobs: new Set(ofCycle) });
  }

  /** Returns the file of the cycle's results with which a command ended, and the rows of its request; undefined if none. */
  #delivered(argv: readonly string[], rows: readonly string[], { home }: Ended): Delivered | undefined {
    if (argv[1] === 'submit') {
      // Another command on the machine may submit a changed file, and write results with the same name.
      const isUnchanged = this.note(argv, home).join() === rows.join();
      const file = resolve(home, (argv[2] ?? '').replace(/\.csv$/, '.results.csv'));
      return argv.includes('--wait') && cycleOf(argv) === CYCLE && isUnchanged ? { file, rows } : undefined;
    }
    if (argv[1] !== 'download') return undefined;
    const directory = runDirectories(home).find((each) => basename(each) === argv[2]) ?? '';
    const run = recordsIn(home, [directory]).records.find(({ cycle }) => cycle === CYCLE);
    const out = argv[argv.indexOf('--out') + 1] ?? '';
    if (run === undefined || !argv.includes('--out')) return undefined;
    return { file: resolve(home, out), rows: rowsOf(join(directory, 'run-request.csv')) };
  }

  /** Nobody pays for a job that failed. */
  #paid(jobs: readonly string[]): string[] {
    return jobs.filter((job) => !this.#world.adversary.failed.has(job));
  }

  /** Returns the jobs whose files a tenant's service accepted, by cycle, token and merchant of each of their rows. */
  #takenAt(directory: string): Map<string, string[]> {
    const cycles = new Map(claimsIn(this.#world).map(({ job, cycle }) => [job, cycle]));
    const taken = new Map<string, string[]>();
    for (const job of uploadsTaken(directory)) {
      if (this.#world.adversary.strangers.has(job)) continue;
      const cycle = cycles.get(job);
      if (cycle === undefined) throw new Error(`job ${job} got its file, and no claim of a ledger names it`);
      for (const row of rowsOf(join(directory, 'files', `request-${job}.csv`))) {
        const key = `${cycle} ${keyOf(row)}`;
        taken.set(key, [...(taken.get(key) ?? []), job]);
      }
    }
    return taken;
  }
}

function cycleOf(argv: readonly string[]): string {
  return argv[argv.indexOf('--cycle') + 1] ?? '';
}

function keyOf(row: string): string {
  const [, , , merchant] = row.split(',');
  return `${tokenOf(row)} ${merchant}`;
}

function rowsOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean) : [];
}
