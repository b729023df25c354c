import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import { CYCLE } from './cycles.ts';
import type { Ended } from './process.ts';
import type { World } from './world.ts';

/** Returns the job that the tenant paid for a row of a request file; undefined if there is none. */
export type JobOfRow = (row: string) => string | undefined;

/** Throws if the results with which a submission ended are not those that the service made of the rows of its file. */
export function checkFileResults(
  world: World,
  argv: readonly string[],
  rows: readonly string[],
  { ended, jobOf }: { readonly ended: Ended; readonly jobOf: JobOfRow },
): void {
  const results = resolve(ended.home, (argv[2] ?? '').replace(/\.csv$/, '.results.csv'));
  const lines = rows.flatMap((row) => resultsOf(world, jobOf(row)).filter((line) => tokenOf(line) === tokenOf(row)));
  expectLines(results, lines, `'svc ${argv.join(' ')}' ended with 0, but the results of its file are others`);
}

/** Throws if the results of the whole cycle are not those of all its jobs. */
export function checkCycleResults(
  world: World,
  argv: readonly string[],
  { ended, jobs }: { readonly ended: Ended; readonly jobs: ReadonlySet<string> },
): void {
  const out = argv.includes('--out') ? (argv[argv.indexOf('--out') + 1] ?? '') : `${CYCLE}.results.csv`;
  const lines = [...jobs].flatMap((job) => resultsOf(world, job));
  const but = `'svc ${argv.join(' ')}' ended with 0, but the results of the cycle are others`;
  expectLines(resolve(ended.home, out), lines, but, { isSorted: true });
}

function expectLines(file: string, lines: readonly string[], but: string, { isSorted = false } = {}): void {
  const found = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const wanted = [RESULT_COLUMNS.join(','), ...lines];
  const [one, other] = isSorted ? [found.toSorted(), wanted.toSorted()] : [found, wanted];
  if (one.join('\n') !== other.join('\n')) throw new Error(`${but}: ${found.join(' ')} instead of ${wanted.join(' ')}`);
}

function resultsOf({ ours }: World, job: string | undefined): string[] {
  const file = join(ours, 'files', `result-${job}.csv`);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean) : [];
}

/** Returns the token of a request or a result. It is a UUID here, which is the same in capitals. */
export function tokenOf(line: string): string {
  return (line.split(',')[0] ?? '').toLowerCase();
}
