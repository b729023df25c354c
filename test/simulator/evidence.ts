import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Part, sentOf } from '../../src/au/run/part.ts';
import { needsFile, type RunRecord, statusOf } from '../../src/au/run/record.ts';
import { RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { claimsIn, jobsOf, openJobsIn, recordedParts, recordsIn, knownDirectories } from './records.ts';
import type { World } from './world.ts';

/** A command, its circumstances and how it ended. */
export interface Setting {
  readonly argv: readonly string[];
  readonly ended: Ended;
  readonly how: Circumstances;
  /** Whether the operator ever accepted unproven results, whose bytes may be wrong. */
  readonly isVouchedFor: boolean;
  /** Whether anything ever went wrong in this world, up to the end of the command. */
  readonly wasTroubled: boolean;
  /** The hash of the submitted file, taken before the command ran. */
  readonly sha256: string | undefined;
}

/** Throws if the exit code of a command claims more than the service and the records show. */
export function checkExitCode(world: World, setting: Setting): void {
  const { argv, ended } = setting;
  if (argv[0] !== 'au' || ended.code === undefined || argv.includes('--dry-run')) return;
  if (world.sharedLedger !== undefined) checkCause(world, setting);
  if (ended.code === 11) checkPending(world, setting);
  if (ended.code === 4 || ended.code === 7 || ended.code === 8) checkTrouble(world, setting);
  if (ended.code !== 0) return;
  if (argv[1] === 'submit') checkSubmitted(world, setting);
  if (argv[1] === 'resume') checkUploaded(world, setting, argv[2] ?? '');
  if (world.sharedLedger !== undefined && !ended.hadCompany) checkNoneHidden(setting, openJobsIn(world.sharedLedger));
  if (argv[1] === 'prepare' && argv[2]?.endsWith('.results.csv')) throw failure(setting, 'but that is a result file');
  // Another command can begin a run after this one has looked for them.
  const isOfAll = argv[1] === 'resume' && (argv[2] ?? '--').startsWith('--');
  if (isOfAll && !ended.hadCompany) checkNothingOpen(world, setting);
  const isWait = argv[1] === 'resume' && !isOfAll && argv.includes('--wait');
  if (isWait || argv[1] === 'download') checkResults(world, setting, argv[2] ?? '');
}

/** Throws if the exit code means "pending" but no response said so, and no other process was at work. */
function checkPending(world: World, setting: Setting): void {
  const { argv, ended } = setting;
  const told = world.adversary.told.get(ended.process) ?? new Map<string, string>();
  const claimed = claimsIn(world).map(({ job }) => job);
  const ours = new Set([...recordedParts(ended.home).flatMap(jobsOf), ...claimed]);
  const isPending = [...told].some(([job, status]) => ours.has(job) && status !== 'completed' && status !== 'failed');
  // A refresh polls the earlier requests of its cycle once, before it waits.
  const wasPending = [...(world.adversary.toldUnderWay.get(ended.process) ?? [])].some((job) => ours.has(job));
  if (argv[1] === 'refresh' && wasPending) return;
  // A resume names the cycles with jobs of other machines whose results nobody received.
  const own = new Set(recordedParts(ended.home).filter(isReceivedHere).flatMap(jobsOf));
  if (argv[1] === 'resume' && claimed.some((job) => told.has(job) && !own.has(job))) return;
  // A response whose Date header was replaced is not noted as one that the process got.
  const isDated = setting.how.faults?.some((fault) => fault.startsWith('date=')) === true;
  if (!isPending && !isDated && !ended.hadCompany) throw failure(setting, 'but nobody said that anything is pending');
}

/** Tells whether a run here gets all results of the job of a part. Of another run's job, it may have needed only some. */
function isReceivedHere({ joined, state }: Part): boolean {
  return joined === undefined || state !== 'downloaded';
}

/** Throws if a command on a machine with a shared ledger ends with an exit code that nothing in this world explains. */
function checkCause(world: World, setting: Setting): void {
  const { code, stderr, hadCompany } = setting.ended;
  // Every machine has the ledger and claims before it uploads.
  if (stderr.includes('that the ledger does not know')) throw failure(setting, 'but the ledger knows every job');
  // A list from before the first job does not show the tenant of a run whose jobs are denied.
  const isHidden = setting.wasTroubled && stderr.includes('this key does not see its jobs');
  // Another command of the machine may have the volume unmounted.
  const isUnmounted = setting.wasTroubled && stderr.includes('there is no directory');
  if (code === 3 && !isHidden && !isUnmounted && !(hadCompany && stderr.includes(' is locked by ')))
    throw failure(setting, 'but nobody damaged the ledger');
  // Somebody who names a run that sent nothing chooses between it and a later run of the same file.
  if (code === 6 && !stderr.includes('of the same file was begun after it'))
    throw failure(setting, 'but all files are of one cycle');
  if (code === 9 && !setting.wasTroubled) throw failure(setting, 'but nothing ever went wrong');
  // Rows of a job that never got its file are left to the next submission too.
  const isGone = /deleted without its file|ended without results/.test(stderr);
  if (code === 10 && world.adversary.failed.size === 0 && !isGone) throw failure(setting, 'but no job failed');
  if (code === 12) throw failure(setting, 'but all results were true');
}

/** Throws if the exit code blames the service though nothing in this world went wrong. */
function checkTrouble(world: World, setting: Setting): void {
  const { faults = [], keys, at, skewMs, fullAt, ending, isUnmounted } = setting.how;
  const circumstances = [keys, at, skewMs, fullAt, ending, isUnmounted].filter((each) => each !== undefined);
  const isTroubled = world.adversary.isTroubled || world.adversary.rotations > 0 || !world.network.isUp;
  // A submission of a killed one first waits to learn what became of an upload, which a short time limit can end.
  const isShort = ['submit', 'refresh'].includes(setting.argv[1] ?? '') && setting.argv.includes('--timeout');
  if (isShort && setting.ended.stderr.includes('"code":"timeout"')) return;
  if (faults.length === 0 && circumstances.length === 0 && !isTroubled && !world.adversary.hasDenied)
    throw failure(setting, 'but nothing went wrong with the service');
}

/** Throws if a file counts as submitted while a part of it is not at the service. */
function checkSubmitted(world: World, setting: Setting): void {
  const { sha256, ended } = setting;
  if (ended.stderr.includes('nothing was submitted')) return;
  // Only stdout counts, because notices on stderr name other runs too.
  const said = ended.stdout;
  const run = recordsIn(ended.home).records.find(({ input, id }) => input.sha256 === sha256 && said.includes(id));
  if (run !== undefined) checkUploaded(world, setting, run.id);
}

/** Throws if a submitted or resumed run lacks a part at the service or, after a wait, its results. */
function checkUploaded(world: World, setting: Setting, name: string): void {
  const { argv, ended } = setting;
  if (ended.stderr.includes('nothing was submitted')) return;
  const run = recordsIn(ended.home, knownDirectories(ended.home)).records.find(({ id }) => id === name);
  if (run === undefined) return;
  if (needsFile(run)) throw failure(setting, `but parts of ${run.id} have yet to be uploaded`);
  if (argv.includes('--wait')) checkResults(world, setting, run.id);
}

/** Throws if a command about everything that is open passes over open jobs of the ledger. */
function checkNoneHidden(setting: Setting, open: readonly string[]): void {
  const { argv, ended } = setting;
  const [, command, of = '--'] = argv;
  if (open.length === 0 || !of.startsWith('--')) return;
  // A job of this machine that failed was said to before, and is left to the next submission.
  const own = new Set(recordedParts(ended.home).flatMap(jobsOf));
  const others = open.filter((job) => !own.has(job));
  if (command === 'resume' && others.length > 0) throw failure(setting, `but jobs ${others.join(', ')} are open`);
  const isNoneShown = open.every((job) => !ended.stdout.includes(job));
  if (command === 'status' && isNoneShown) throw failure(setting, `and did not show jobs ${open.join(', ')}`);
}

/** Throws if a run at the address of the command is still open. */
function checkNothingOpen(world: World, setting: Setting): void {
  const address = world.addressOf(setting.how.at);
  const { home } = setting.ended;
  const open = recordsIn(home, knownDirectories(home)).records.find(
    (record) =>
      record.base_url === address &&
      record.abandoned_at === undefined &&
      statusOf(record) === 'open' &&
      !isNotSent(home, record),
  );
  if (open !== undefined) throw failure(setting, `but ${open.id} is open`);
}

/** Tells whether a run sent nothing and a newer run has its content or its path. The tool leaves such a run alone. */
function isNotSent(home: string, { id, parts, input, created_at: created }: RunRecord): boolean {
  const isUntouched = parts.every((part) => jobsOf(part).length === 0);
  const others = recordsIn(home).records.filter((other) => other.id !== id && other.created_at >= created);
  return isUntouched && others.some((other) => other.input.sha256 === input.sha256 || other.input.path === input.path);
}

/** Throws if results that count as complete differ from what the service made of the run's own jobs. */
function checkResults(world: World, setting: Setting, name: string): void {
  const { argv, how, ended, isVouchedFor } = setting;
  // The results of files whose rows have several merchants are compared by row.
  if (world.sharedLedger !== undefined) return;
  const { home } = ended;
  const run = recordsIn(home).records.find(({ id }) => id === basename(name));
  if (run?.out === undefined || isVouchedFor || how.keys === 'theirs' || run.abandoned_at !== undefined) return;
  const out = argv.includes('--out') ? (argv[argv.indexOf('--out') + 1] ?? '') : run.out;
  const file = join(out.startsWith('/') ? '' : home, out);
  const made = run.parts.map((part) => madeOf(world, part));
  // Results that cannot be compared may be delivered with a warning.
  const isCompared = !ended.stderr.includes('were not compared with the tokens');
  if (!existsSync(file) || made.includes(undefined) || !isCompared) return;
  const isDivided = run.parts.some((part) => part.rows_file !== undefined);
  const all = made.map((text = '') => text.slice(text.indexOf('\n') + 1));
  const rows = isDivided ? inOrderOf(home, run, all) : all;
  if (readFileSync(file, 'utf8') !== `${RESULT_COLUMNS.join(',')}\n${rows.join('')}`)
    throw failure(setting, `but ${basename(file)} is not what the service made of ${run.id}`);
}

/** Returns the lines of results about the tokens of a run's request, in the order of its rows. */
function inOrderOf(home: string, { id }: RunRecord, results: readonly string[]): string[] {
  const directory = knownDirectories(home).find((each) => basename(each) === id) ?? '';
  const tokens = linesOf(readFileSync(join(directory, 'run-request.csv'), 'utf8'))
    .map(tokenOf)
    .slice(1);
  const lines = results.flatMap(linesOf).map((line) => ({ line, at: tokens.indexOf(tokenOf(line)) }));
  const own = lines.filter(({ at }) => at !== -1).toSorted((one, other) => one.at - other.at);
  return own.map(({ line }) => `${line}\n`);
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(Boolean);
}

function tokenOf(line: string): string {
  return line.split(',')[0] ?? '';
}

/** Returns the results that the service made of a part; undefined if it has none. */
function madeOf({ ours, theirs }: World, { job }: Part): string | undefined {
  const files = [ours, theirs].map((directory) => join(directory, 'files', `result-${job}.csv`));
  const made = files.find(existsSync);
  return made === undefined ? undefined : readFileSync(made, 'utf8');
}

function failure({ argv, ended }: Setting, but: string): Error {
  return new Error(`'svc ${argv.join(' ')}' ended with exit code ${ended.code}, ${but}: ${ended.stderr}`);
}

/** Throws if a part counts as uploaded though its job never got it, or has the results of an earlier job. */
export function checkRecords(world: World): void {
  for (const { id, parts } of world.homes.flatMap((home) => recordsIn(home).records))
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

function isStored(world: World, { job = '', sha256, joined, seen }: Part): boolean {
  const files = [world.ours, world.theirs].map((directory) => join(directory, 'files', `request-${job}.csv`));
  // Another run sends the file of this job, which may have other rows too.
  if (joined !== undefined) return seen === undefined || seen === 'pending' || files.some(existsSync);
  const isThere = files.some((file) => existsSync(file) && hashOf(file) === sha256);
  // The tool cannot notice at once that a gateway confirmed an upload which the store never got.
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
