import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { uploadsTaken } from '../au/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { jobsOf, recordsIn } from './records.ts';
import type { World } from './world.ts';

/** A row that a tenant's service accepted in a cycle. */
interface Taken {
  readonly row: string;
  readonly isError: boolean;
  /** Whether its job failed, so that nobody pays for the row. */
  readonly isFailed: boolean;
}

/** Checks that each tenant pays once per token, merchant and cycle. */
export class CyclePayments {
  readonly #world: World;
  constructor(world: World) {
    this.#world = world;
  }

  /** Notes a command before it runs. Returns the rows of the file that it submits. */
  note(argv: readonly string[]): readonly string[] {
    return argv[1] === 'submit' ? rowsOf(join(this.#world.home, argv[2] ?? '')) : [];
  }

  /** Checks that a command billed no row too often, and that a file counted as submitted was really sent. */
  check(argv: readonly string[], rows: readonly string[], { code }: Ended, keys: Circumstances['keys']): void {
    for (const directory of [this.#world.ours, this.#world.theirs])
      for (const [key, taken] of this.#takenAt(directory)) {
        const paid = taken.filter(({ isFailed }) => !isFailed);
        if (paid.length > 1) throw new Error(`row ${key} was paid for ${paid.length} times`);
      }
    if (code !== 0 || argv[1] !== 'submit') return;
    const sent = this.#takenAt(keys === 'theirs' ? this.#world.theirs : this.#world.ours);
    const missing = rows.find((row) => !sent.has(`${cycleOf(argv)} ${keyOf(row)}`));
    if (missing !== undefined) throw new Error(`row ${missing} was never sent, and the file counts as submitted`);
  }

  /** Returns the rows that a tenant's service accepted, by cycle, token and merchant. */
  #takenAt(directory: string): Map<string, Taken[]> {
    const cycles = new Map<string, string>();
    for (const { parts, cycle = '' } of recordsIn(this.#world.home).records)
      for (const job of parts.flatMap(jobsOf)) cycles.set(job, cycle);
    const taken = new Map<string, Taken[]>();
    for (const job of uploadsTaken(directory)) {
      const cycle = cycles.get(job);
      if (cycle === undefined) continue;
      const isFailed = this.#world.adversary.failed.has(job);
      const errors = errorsOf(join(directory, 'files', `result-${job}.csv`));
      for (const row of rowsOf(join(directory, 'files', `request-${job}.csv`))) {
        const key = `${cycle} ${keyOf(row)}`;
        const isError = errors.has(row.split(',')[0] ?? '');
        taken.set(key, [...(taken.get(key) ?? []), { row, isError, isFailed }]);
      }
    }
    return taken;
  }
}

function cycleOf(argv: readonly string[]): string {
  return argv[argv.indexOf('--cycle') + 1] ?? '';
}

function keyOf(row: string): string {
  const [token, , , merchant] = row.split(',');
  return `${token} ${merchant}`;
}

function rowsOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean) : [];
}

/** Returns the tokens whose result is an error. */
function errorsOf(file: string): Set<string> {
  return new Set(rowsOf(file).flatMap((row) => (row.includes(',ERR_') ? [row.split(',')[0] ?? ''] : [])));
}
