import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from './process.ts';
import { claimsIn, openJobsIn } from './records.ts';
import type { World } from './world.ts';

/** Checks that a job which the shared ledger no longer counts as open was delivered: a file has all of its results. */
export class Deliveries {
  readonly #world: World;
  /** The jobs that were checked, and those of commands that failed, which say so themselves. */
  readonly #known = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  check(argv: readonly string[], { code, hadCompany }: Ended): void {
    const { sharedLedger, homes, home, sharedFolder, ours, adversary } = this.#world;
    if (sharedLedger === undefined) return;
    const open = new Set(openJobsIn(sharedLedger));
    const closed = claimsIn({ homes: [], sharedLedger }).map(({ job }) => job);
    const found = closed.filter((job) => !open.has(job) && !this.#known.has(job));
    for (const job of found) this.#known.add(job);
    if (found.length === 0 || code !== 0 || hadCompany) return;
    const received = new Set([...homes, home, sharedFolder].flatMap(linesBelow));
    // A job that failed has no results, and its claim was released.
    for (const job of found.filter((each) => !adversary.failed.has(each))) {
      const file = join(ours, 'files', `result-${job}.csv`);
      const results = existsSync(file) ? linesOf(file) : [];
      if (results.some((line) => !received.has(line)))
        throw new Error(`'svc ${argv.join(' ')}' closed job ${job}, and nobody received its results`);
    }
  }
}

function linesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.csv')).flatMap((name) => linesOf(join(directory, name)));
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean);
}
