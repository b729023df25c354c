import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import { CYCLE } from './cycles.ts';
import type { Ended } from './process.ts';
import type { World } from './world.ts';

/** Returns the job that the tenant paid for a row of a request file; undefined if there is none. */
export type JobOfRow = (row: string) => string | undefined;

/** Throws if results are not those that the service made of the rows of a file. `but` says whose results they are. */
export function checkFileResults(
  world: World,
  file: string,
  rows: readonly string[],
  { jobOf, but }: { readonly jobOf: JobOfRow; readonly but: string },
): void {
  const found = grouped(linesIn(file), tokenOf);
  const byToken = grouped(rows, tokenOf);
  for (const [token, lines] of found)
    if (!byToken.has(token)) throw new Error(`${but}: ${lines.join(' ')} was not requested`);
  for (const [token, own] of byToken) {
    const jobs = [...grouped(own, jobOf)];
    const made = jobs.flatMap(([job]) => resultsOf(world, job).filter((line) => tokenOf(line) === token));
    const least = jobs.reduce((sum, [job, of]) => sum + leastOf(world, job, of), 0);
    const lines = found.get(token) ?? [];
    if (lines.length < least || !isPartOf(lines, made))
      throw new Error(`${but}: ${lines.join(' ')} instead of at least ${least} of ${made.join(' ')}`);
  }
  // The rows of a token for several merchants are not next to each other.
  if (
    byToken.size === rows.length &&
    [...found.keys()].join() !== [...byToken.keys()].filter((one) => found.has(one)).join()
  )
    throw new Error(`${but}: they are in another order`);
}

function grouped<K>(lines: readonly string[], keyOf: (line: string) => K): Map<K, string[]> {
  const groups = new Map<K, string[]>();
  for (const line of lines) groups.set(keyOf(line), [...(groups.get(keyOf(line)) ?? []), line]);
  return groups;
}

function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  const left = [...all];
  return some.every((one) => left.includes(one) && left.splice(left.indexOf(one), 1).length === 1);
}

/**
 * Returns how many results a job has at least of some of its rows with the same token. Results name no merchant, so that
 * it is not known which rows have none.
 */
function leastOf(world: World, job: string | undefined, own: readonly string[]): number {
  if (job === undefined) return 0;
  const token = tokenOf(own[0] ?? '');
  const all = rowsOf(world, job).filter((row) => tokenOf(row) === token);
  const results = resultsOf(world, job).filter((line) => tokenOf(line) === token);
  return Math.max(0, results.length - (all.length - own.length));
}

/** Throws if the results of the whole cycle are not those of all its jobs. */
export function checkCycleResults(
  world: World,
  argv: readonly string[],
  { ended, jobs }: { readonly ended: Ended; readonly jobs: ReadonlySet<string> },
): void {
  const lines = [...jobs].flatMap((job) => resultsOf(world, job));
  const but = `'svc ${argv.join(' ')}' ended with 0, but the results of the cycle are others`;
  const found = linesIn(wholeResults(world, argv, ended));
  const isClear = (line: string): boolean =>
    [...jobs].every((job) => isAnswered(world, job, tokenOf(line))) &&
    [...jobs].filter((job) => resultsOf(world, job).some((other) => tokenOf(other) === tokenOf(line))).length === 1;
  // A refresh joins requests, which may share jobs. Where it is not known whose results they are, equal ones count once.
  const comparable = (all: readonly string[]): readonly string[] => {
    if (argv[1] !== 'refresh') return all;
    const same = all.map((line) => line.toLowerCase());
    return [...same.filter(isClear), ...new Set(same.filter((line) => !isClear(line)))];
  };
  if (comparable(found).toSorted().join() !== comparable(lines).toSorted().join())
    throw new Error(`${but}: ${found.join(' ')} instead of ${lines.join(' ')}`);
}

/** Tells whether each row of a token in a job has a result. */
function isAnswered(world: World, job: string, token: string): boolean {
  const isOfToken = (line: string): boolean => tokenOf(line) === token;
  return rowsOf(world, job).filter(isOfToken).length === resultsOf(world, job).filter(isOfToken).length;
}

function rowsOf({ ours }: World, job: string): string[] {
  return linesIn(join(ours, 'files', `request-${job}.csv`));
}

function resultsOf({ ours }: World, job: string | undefined): string[] {
  return linesIn(join(ours, 'files', `result-${job}.csv`));
}

/** Returns the file with the results of the whole cycle. */
function wholeResults({ home, sharedFolder }: World, argv: readonly string[], ended: Ended): string {
  if (argv[1] === 'refresh') return join(sharedFolder, CYCLE, 'results.csv');
  // Without --out, the file is in the working directory, which all machines have in common.
  if (!argv.includes('--out')) return join(home, `${CYCLE}.results.csv`);
  return resolve(ended.home, argv[argv.indexOf('--out') + 1] ?? '');
}

/** Returns the tokens that the results of a job made. */
export function madeBy(world: World, job: string): Set<string> {
  return new Set(resultsOf(world, job).flatMap((line) => newTokenOf(line)?.toLowerCase() ?? []));
}

/** Returns the new tokens by the old ones, in all results of some directories. */
export function newTokensIn(directories: readonly string[]): Map<string, string> {
  const files = directories
    .filter(existsSync)
    .flatMap((directory) =>
      readdirSync(directory).flatMap((name) =>
        /results\.csv$|^cycle\.csv$/.test(name) ? [join(directory, name)] : [],
      ),
    );
  const made = new Map<string, string>();
  for (const line of files.flatMap(linesIn)) {
    const token = newTokenOf(line);
    if (token !== undefined) made.set(tokenOf(line), token);
  }
  return made;
}

/** Returns the new token in a line of results, if there is one. */
export function newTokenOf(line: string): string | undefined {
  return line.split(',')[RESULT_COLUMNS.indexOf('new_token')] || undefined;
}

/** Returns the lines of a file below its header. */
function linesIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean) : [];
}

/** Returns the token of a request or a result. It is a UUID here, which is the same in capitals. */
export function tokenOf(line: string): string {
  return (line.split(',')[0] ?? '').toLowerCase();
}
