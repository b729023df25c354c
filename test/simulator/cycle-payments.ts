import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { uploadsTaken } from '../au/support.ts';
import { checkCycleResults, checkFileResults, madeBy, tokenOf } from './cycle-results.ts';
import { CYCLE } from './cycles.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { claimsIn } from './records.ts';
import { checkRefreshRow } from './refresh-row.ts';
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
    const file = resolve(home, argv[2] ?? '');
    // An export has semicolons.
    if (argv[1] === 'refresh') return rowsOf(file).map((row) => row.replaceAll(';', ','));
    return argv[1] === 'submit' ? rowsOf(file) : [];
  }

  /** Checks that a command billed no row too often, and that a file counted as submitted was really sent. */
  check(argv: readonly string[], rows: readonly string[], ended: Ended, keys: Circumstances['keys']): void {
    const [unclaimed] = this.#world.adversary.unclaimed;
    if (unclaimed !== undefined) throw new Error(`the upload to job ${unclaimed} began, and no ledger had its claim`);
    for (const directory of [this.#world.ours, this.#world.theirs]) {
      const taken = this.#takenAt(directory);
      for (const [key, jobs] of taken) {
        const paid = this.#paid(jobs);
        const [, token = ''] = key.split(' ');
        if (this.#isMade(token, taken)) throw new Error(`row ${key} was sent, and results of its cycle made its token`);
        if (paid.length > 1) throw new Error(`row ${key} was paid for ${paid.length} times: ${paid.join(' ')}`);
      }
    }
    if (ended.code !== 0) return;
    const sent = this.#takenAt(keys === 'theirs' ? this.#world.theirs : this.#world.ours);
    const jobsOf = (row: string): readonly string[] | undefined => sent.get(`${cycleOf(argv)} ${keyOf(row)}`);
    // A token that results of the cycle made is up to date.
    const missing = rows.find((row) => jobsOf(row) === undefined && !this.#isMade(tokenOf(row), sent));
    if (missing !== undefined) throw new Error(`row ${missing} was never sent, and the file counts as submitted`);
    const delivered = keys === undefined ? this.#delivered(argv, rows, ended) : undefined;
    if (delivered !== undefined) {
      const jobOf = (row: string): string | undefined => this.#paid(sent.get(`${CYCLE} ${keyOf(row)}`) ?? []).at(-1);
      const but = `'svc ${argv.join(' ')}' ended with 0, but the results are others`;
      checkFileResults(this.#world, delivered.file, delivered.rows, { jobOf, but });
    }
    const isWhole = (argv[1] === 'resume' && argv[2] === CYCLE) || argv[1] === 'refresh';
    if (!isWhole || ended.hadCompany) return;
    if (argv[1] === 'refresh') checkRefreshRow(this.#world, argv, ended);
    const ofCycle = [...sent].flatMap(([key, jobs]) => (key.startsWith(`${CYCLE} `) ? this.#paid(jobs) : []));
    checkCycleResults(this.#world, argv, { ended, jobs: new Set(ofCycle) });
  }

  /** Returns the file of the cycle's results with which a command ended, and the rows of its request; undefined if none. */
  #delivered(argv: readonly string[], rows: readonly string[], { home, stdout }: Ended): Delivered | undefined {
    // A file of which every token is up to date has no results, and those of an earlier file stay where they are.
    if (stdout.includes('nothing_new')) return undefined;
    if (argv[1] === 'submit') {
      // Another command on the machine may submit a changed file, and write results with the same name.
      const isUnchanged = this.note(argv, home).join() === rows.join();
      const out = argv.includes('--out') ? outOf(argv) : (argv[2] ?? '').replace(/\.csv$/, '.results.csv');
      const file = resolve(home, out);
      return argv.includes('--wait') && cycleOf(argv) === CYCLE && isUnchanged ? { file, rows } : undefined;
    }
    if (argv[1] !== 'download') return undefined;
    const isOfCycle = claimsIn(this.#world).some(({ job, cycle }) => job === argv[2] && cycle === CYCLE);
    if (!isOfCycle || !argv.includes('--out')) return undefined;
    const request = join(this.#world.ours, 'files', `request-${argv[2]}.csv`);
    return { file: resolve(home, outOf(argv)), rows: rowsOf(request) };
  }

  /** Tells whether results of the jobs that got these rows made a token. */
  #isMade(token: string, taken: ReadonlyMap<string, readonly string[]>): boolean {
    const jobs = new Set([...taken.values()].flat());
    return [...jobs].some((job) => madeBy(this.#world, job).has(token));
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
      const rows = rowsOf(join(directory, 'files', `request-${job}.csv`));
      if (new Set(rows.map(tokenOf)).size < rows.length) throw new Error(`a token stands twice in job ${job}`);
      for (const row of rows) {
        const key = `${cycle} ${keyOf(row)}`;
        taken.set(key, [...(taken.get(key) ?? []), job]);
      }
    }
    return taken;
  }
}

function outOf(argv: readonly string[]): string {
  return argv[argv.indexOf('--out') + 1] ?? '';
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
