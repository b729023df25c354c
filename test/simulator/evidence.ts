import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { uploadsTaken } from '../au/support.ts';
import { newTokenOf, tokenOf } from './cycle-results.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { claimsIn, keptJobs, openJobsIn, openJobsOf } from './records.ts';
import type { World } from './world.ts';

/** A command, its circumstances and how it ended. */
export interface Setting {
  readonly argv: readonly string[];
  readonly ended: Ended;
  readonly how: Circumstances;
  /** Whether the operator ever accepted results whose bytes may be wrong. */
  readonly isVouchedFor: boolean;
  /** Whether anything ever went wrong in this world, up to the end of the command. */
  readonly wasTroubled: boolean;
  /** The rows of the submitted file before the command ran. */
  readonly submitted: readonly string[] | undefined;
}

/** Throws if the exit code of a command claims more than the service and the ledger show. */
export function checkExitCode(world: World, setting: Setting): void {
  const { argv, ended } = setting;
  const showsNothing = ['--dry-run', '--help'].some((word) => argv.includes(word));
  if (argv[0] !== 'au' || ended.code === undefined || showsNothing) return;
  if (world.sharedLedger !== undefined) checkCause(world, setting);
  if (ended.code === 11) checkPending(world, setting);
  if (ended.code === 4 || ended.code === 7 || ended.code === 8) checkTrouble(world, setting);
  if (ended.code !== 0) return;
  if (argv[1] === 'submit') checkSubmitted(world, setting);
  if (world.sharedLedger !== undefined && !ended.hadCompany) checkNoneHidden(setting, openJobsIn(world.sharedLedger));
  if (argv[1] === 'prepare' && argv[2]?.endsWith('.results.csv')) throw failure(setting, 'but that is a result file');
  // Another command can send a file after this one has looked for open jobs.
  const isOfAll = argv[1] === 'resume' && (argv[2] ?? '--').startsWith('--');
  if (isOfAll && !ended.hadCompany) checkNothingOpen(world, setting);
  if (argv[1] === 'download') checkDownload(world, setting);
}

/** Throws if the exit code means "pending" but no response said so, and no other process was at work. */
function checkPending(world: World, setting: Setting): void {
  const { argv, ended } = setting;
  const told = world.adversary.told.get(ended.process) ?? new Map<string, string>();
  const claimed = claimsIn(world).map(({ job }) => job);
  const ours = new Set([...keptJobs(ended.home).map(({ job }) => job), ...claimed]);
  // A job that no ledger knows may have the rows too, and is named.
  const isMeant = (job: string): boolean => ours.has(job) || ended.stderr.includes(job);
  const isPending = [...told].some(([job, status]) => isMeant(job) && status !== 'completed' && status !== 'failed');
  // A refresh polls the earlier requests of its cycle once, before it waits.
  const wasPending = [...(world.adversary.toldUnderWay.get(ended.process) ?? [])].some((job) => ours.has(job));
  if (argv[1] === 'refresh' && wasPending) return;
  // A response whose Date header was replaced is not noted as one that the process got.
  const isDated = setting.how.faults?.some((fault) => fault.startsWith('date=')) === true;
  if (!isPending && !isDated && !ended.hadCompany) throw failure(setting, 'but nobody said that anything is pending');
}

/** Throws if a command on a machine with a shared ledger ends with an exit code that nothing in this world explains. */
function checkCause(world: World, setting: Setting): void {
  const { code, stderr, hadCompany } = setting.ended;
  // Every machine has the ledger and claims before it uploads.
  if (stderr.includes('that the ledger does not know')) throw failure(setting, 'but the ledger knows every job');
  // A list from before the first job does not show the tenant of jobs that are denied.
  const isHidden = setting.wasTroubled && stderr.includes('this key does not see its jobs');
  // Another command of the machine may have the volume unmounted.
  const isUnmounted = (setting.wasTroubled || hadCompany) && stderr.includes('there is no directory');
  if (code === 3 && !isHidden && !isUnmounted && !(hadCompany && stderr.includes(' is locked by ')))
    throw failure(setting, 'but nobody damaged the ledger');
  if (code === 6) throw failure(setting, 'but all files are of one cycle');
  if (code === 9 && !setting.wasTroubled) throw failure(setting, 'but nothing ever went wrong');
  // Rows of a job that never got its file, and those that never had a job, are left to the next submission too.
  const isGone = /deleted without its file|ended without results|no job has/.test(stderr);
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

/** Throws if a file counts as submitted while the service lacks one of its rows. */
function checkSubmitted(world: World, setting: Setting): void {
  const { ended, submitted = [], how } = setting;
  const { jobs = [], status } = JSON.parse(ended.stdout || '{}') as Submitted;
  if (status === 'nothing_new') return;
  const directory = how.keys === 'theirs' ? world.theirs : world.ours;
  const taken = new Set(uploadsTaken(directory));
  const lost = jobs.find((job) => !taken.has(job) && !world.adversary.stored.has(job));
  if (lost !== undefined) throw failure(setting, `but job ${lost} never got its file`);
  // The tool cannot notice at once that a gateway confirmed an upload which the store never got.
  if (jobs.some((job) => !taken.has(job))) return;
  const sent = new Set(jobs.flatMap((job) => linesOf(join(directory, 'files', `request-${job}.csv`)).map(keyOf)));
  const made = madeInCycle(world, setting, directory);
  const missing = submitted.find((row) => !sent.has(keyOf(row)) && !made.has(tokenOf(row)));
  if (missing !== undefined) throw failure(setting, `but row ${missing} is in none of the jobs ${jobs.join(', ')}`);
}

/** Returns the tokens that results of the cycle of a submission made, which are not sent in it. */
function madeInCycle(world: World, { argv }: Setting, directory: string): ReadonlySet<string> {
  const cycle = argv[argv.indexOf('--cycle') + 1];
  const jobs = claimsIn(world).filter((claim) => argv.includes('--cycle') && claim.cycle === cycle);
  const files = jobs.map(({ job }) => join(directory, 'files', `result-${job}.csv`)).filter(existsSync);
  return new Set(files.flatMap(linesOf).flatMap((line) => newTokenOf(line) ?? []));
}

interface Submitted {
  readonly jobs?: readonly string[];
  readonly status?: string;
}

/** Returns what tells a row of a request from the others: its token and its merchant. */
function keyOf(row: string): string {
  const [token = '', , , merchant = ''] = row.split(',');
  return `${token.toLowerCase()} ${merchant}`;
}

/** Throws if a command about everything that is open passes over open jobs of the ledger. */
function checkNoneHidden(setting: Setting, open: readonly string[]): void {
  const { argv, ended } = setting;
  const [, command, of = '--'] = argv;
  if (open.length === 0 || !of.startsWith('--')) return;
  if (command === 'resume') throw failure(setting, `but jobs ${open.join(', ')} are open`);
  const isNoneShown = open.every((job) => !ended.stdout.includes(job));
  if (command === 'status' && isNoneShown) throw failure(setting, `and did not show jobs ${open.join(', ')}`);
}

/** Throws if a job of the tenant is still open. */
function checkNothingOpen(world: World, setting: Setting): void {
  const [open] = openJobsOf(world, world.tenantOf(setting.how.keys));
  if (open !== undefined) throw failure(setting, `but job ${open} is open`);
}

/** Throws if downloaded results differ from what the service made of the job. */
function checkDownload(world: World, setting: Setting): void {
  const { argv, how, ended, isVouchedFor } = setting;
  if (isVouchedFor || how.keys === 'theirs') return;
  const out = argv.includes('--out') ? (argv[argv.indexOf('--out') + 1] ?? '') : 'results.csv';
  const file = resolve(ended.home, out);
  const made = madeOf(world, argv[2] ?? '').find(existsSync);
  if (made !== undefined && hashOf(file) !== hashOf(made))
    throw failure(setting, `but ${out} is not what the service made of job ${argv[2]}`);
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean);
}

/** Returns the files in which the services may have the results of a job. */
function madeOf({ ours, theirs }: World, job: string): string[] {
  return [ours, theirs].map((directory) => join(directory, 'files', `result-${job}.csv`));
}

function failure({ argv, ended }: Setting, but: string): Error {
  return new Error(`'svc ${argv.join(' ')}' ended with exit code ${ended.code}, ${but}: ${ended.stderr}`);
}

/** Throws if a machine counts a job as uploaded that never got its file, or keeps results that are not those of the job. */
export function checkKept(world: World): void {
  const hashes = new Map(claimsIn(world).map(({ job, sha256 }) => [job, sha256]));
  for (const { job, directory, sent } of world.homes.flatMap(keptJobs)) {
    const sha256 = hashes.get(job);
    if (sent === 'stored' && sha256 !== undefined && !isStored(world, job, sha256))
      throw new Error(`job ${job} counts as uploaded, and never got its file`);
    const results = join(directory, 'results.csv');
    if (existsSync(results) && !hasServed(world, job, hashOf(results)))
      throw new Error(`the results that are kept of job ${job} are not its results`);
  }
}

function isStored(world: World, job: string, sha256: string): boolean {
  const files = [world.ours, world.theirs].map((directory) => join(directory, 'files', `request-${job}.csv`));
  const isThere = files.some((file) => existsSync(file) && hashOf(file) === sha256);
  // The tool cannot notice at once that a gateway confirmed an upload which the store never got.
  return isThere || (world.adversary.stored.has(job) && !files.some(existsSync));
}

function hasServed(world: World, job: string, sha256: string): boolean {
  const isMade = madeOf(world, job).some((file) => existsSync(file) && hashOf(file) === sha256);
  return isMade || world.adversary.forged.get(job)?.has(sha256) === true;
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
