import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Part, sentOf } from '../../src/au/run/part.ts';
import { needsFile, type RunRecord, statusOf } from '../../src/au/run/record.ts';
import { RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { jobsOf, recordsIn, knownDirectories } from './records.ts';
import type { World } from './world.ts';

/** What is known of a command beside what the service knows. */
export interface Setting {
  readonly argv: readonly string[];
  readonly ended: Ended;
  readonly how: Circumstances;
  /** Whether the operator vouched for results at any time: then their bytes need not be right. */
  readonly isVouchedFor: boolean;
  /** The hash of the file that the command was given, before it was run. */
  readonly sha256: string | undefined;
}

/** What the exit code of a command has to stand on. Each throws where it stands on nothing. */
export function checkExitCode(world: World, setting: Setting): void {
  const { argv, ended } = setting;
  if (argv[0] !== 'au' || ended.code === undefined || argv.includes('--dry-run')) return;
  if (ended.code === 11) checkPending(world, setting);
  if (ended.code === 4 || ended.code === 7 || ended.code === 8) checkTrouble(world, setting);
  if (ended.code !== 0) return;
  if (argv[1] === 'submit') checkSubmitted(world, setting);
  if (argv[1] === 'resume') checkUploaded(world, setting, argv[2] ?? '');
  if (argv[1] === 'prepare' && argv[2]?.endsWith('.results.csv')) throw failure(setting, 'but that is a result file');
  if (argv[1] === 'sync') checkNothingOpen(world, setting);
  if (argv[1] === 'wait' || argv[1] === 'download') checkResults(world, setting, argv[2] ?? '');
}

/** "Pending" needs a response of the service to this command that says so, or another process that has the run. */
function checkPending(world: World, setting: Setting): void {
  const { ended } = setting;
  const told = world.adversary.told.get(ended.process) ?? new Map<string, string>();
  const ours = new Set(recordsIn(world.home).records.flatMap(({ parts }) => parts.flatMap(jobsOf)));
  const isPending = [...told].some(([job, status]) => ours.has(job) && status !== 'completed' && status !== 'failed');
  if (!isPending && !ended.hadCompany) throw failure(setting, 'but nobody said that anything is pending');
}

/** A service that cannot be had, or refuses, needs a reason in this world. */
function checkTrouble(world: World, setting: Setting): void {
  const { faults = [], keys, at, skewMs, fullAt, ending } = setting.how;
  const circumstances = [keys, at, skewMs, fullAt, ending].filter((each) => each !== undefined);
  const isTroubled = world.adversary.isTroubled || world.adversary.rotations > 0 || !world.network.isUp;
  if (faults.length === 0 && circumstances.length === 0 && !isTroubled && !world.adversary.hasDenied)
    throw failure(setting, 'but nothing went wrong with the service');
}

/** A file that counts as submitted is at the service, part by part. */
function checkSubmitted(world: World, setting: Setting): void {
  const { sha256, ended } = setting;
  if (ended.stderr.includes('nothing was submitted')) return;
  // Notices name other runs too.
  const said = ended.stdout;
  const run = recordsIn(world.home).records.find(({ input, id }) => input.sha256 === sha256 && said.includes(id));
  if (run !== undefined) checkUploaded(world, setting, run.id);
}

/** A run that was submitted or resumed has its parts at the service, and its results after a wait. */
function checkUploaded(world: World, setting: Setting, name: string): void {
  const { argv, ended } = setting;
  if (ended.stderr.includes('nothing was submitted')) return;
  const run = recordsIn(world.home, knownDirectories(world.home)).records.find(({ id }) => id === name);
  if (run === undefined) return;
  if (needsFile(run)) throw failure(setting, `but parts of ${run.id} have yet to be uploaded`);
  if (argv.includes('--wait')) checkResults(world, setting, run.id);
}

/** Nothing is left to do for the runs at the address of the command. */
function checkNothingOpen(world: World, setting: Setting): void {
  const address = world.addressOf(setting.how.at);
  const open = recordsIn(world.home, knownDirectories(world.home)).records.find(
    (record) =>
      record.base_url === address &&
      record.abandoned_at === undefined &&
      statusOf(record) === 'open' &&
      !isNotSent(world, record),
  );
  if (open !== undefined) throw failure(setting, `but ${open.id} is open`);
}

/** A run of which nothing was sent, while another run of its file, or of what is now there, was begun after it, is left alone. */
function isNotSent(world: World, { id, parts, input, created_at: created }: RunRecord): boolean {
  const isUntouched = parts.every((part) => jobsOf(part).length === 0);
  const others = recordsIn(world.home).records.filter((other) => other.id !== id && other.created_at >= created);
  return isUntouched && others.some((other) => other.input.sha256 === input.sha256 || other.input.path === input.path);
}

/** Results that count as complete are those of the run's own jobs, with every row that the service made of them. */
function checkResults(world: World, setting: Setting, name: string): void {
  const { argv, how, ended, isVouchedFor } = setting;
  const run = recordsIn(world.home).records.find(({ id }) => id === basename(name));
  if (run?.out === undefined || isVouchedFor || how.keys === 'theirs' || run.abandoned_at !== undefined) return;
  const out = argv.includes('--out') ? (argv[argv.indexOf('--out') + 1] ?? '') : run.out;
  const file = join(out.startsWith('/') ? '' : world.home, out);
  const made = run.parts.map((part) => madeOf(world, part));
  // What nobody can compare may be delivered, once that is said.
  const isCompared = !ended.stderr.includes('were not compared with the tokens');
  if (!existsSync(file) || made.includes(undefined) || !isCompared) return;
  const rows = made.map((text = '') => text.slice(text.indexOf('\n') + 1));
  if (readFileSync(file, 'utf8') !== `${RESULT_COLUMNS.join(',')}\n${rows.join('')}`)
    throw failure(setting, `but ${basename(file)} is not what the service made of ${run.id}`);
}

/** What the service made of a part, where its job is there. */
function madeOf({ ours, theirs }: World, { job }: Part): string | undefined {
  const files = [ours, theirs].map((directory) => join(directory, 'files', `result-${job}.csv`));
  const made = files.find(existsSync);
  return made === undefined ? undefined : readFileSync(made, 'utf8');
}

function failure({ argv, ended }: Setting, but: string): Error {
  return new Error(`'svc ${argv.join(' ')}' ended with exit code ${ended.code}, ${but}: ${ended.stderr}`);
}

/**
 * What a record takes for uploaded was uploaded, and what it takes for the results of a job came from there: not those
 * of another job that the part had before.
 */
export function checkRecords(world: World): void {
  for (const { id, parts } of recordsIn(world.home).records)
    for (const part of parts) {
      const name = `part ${part.number} of ${id}`;
      if (sentOf(part) === 'stored' && !isStored(world, part))
        throw new Error(`${name} counts as uploaded, and job ${part.job} never got it`);
      const { sha256 } = part.results ?? {};
      if (part.state !== 'downloaded' || sha256 === undefined) continue;
      const other = (part.earlier_jobs ?? []).find(({ job }) => hasServed(world, job, sha256));
      if (other !== undefined && !hasServed(world, part.job ?? '', sha256))
        throw new Error(`${name} has the results of its earlier job ${other.job}`);
    }
}

function isStored(world: World, { job = '', sha256 }: Part): boolean {
  const files = [world.ours, world.theirs].map((directory) => join(directory, 'files', `request-${job}.csv`));
  const isThere = files.some((file) => existsSync(file) && hashOf(file) === sha256);
  // A gateway that says so in the place of the store cannot be found out at once.
  return isThere || (world.adversary.stored.has(job) && !files.some(existsSync));
}

function hasServed(world: World, job: string, sha256: string): boolean {
  const made = [world.ours, world.theirs].map((directory) => join(directory, 'files', `result-${job}.csv`));
  const isMade = made.some((file) => existsSync(file) && hashOf(file) === sha256);
  return isMade || world.adversary.forged.get(job)?.has(sha256) === true;
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
