import { isSvcError, SvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import type { Client } from '../../client/api/client.ts';
import { doubtError } from '../ledger/doubt.ts';
import { isDone, openJobs, standingClaims } from '../ledger/claims.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import { isFileCycle, submitWords } from '../ledger/cycle-names.ts';
import type { NamedCycle } from './named-cycle.ts';
import { ContestedJob, type JobResults, resultsOfJob, withContested } from '../results/job-results.ts';
import { LATE_MS } from '../results/download.ts';
import { enterDelivery } from '../results/reading.ts';
import { deliverResults, type Destination, requireDestination, type ResultsFile } from '../results/merge.ts';
import { compareBeforeEntry } from './compare-jobs.ts';
import { type ClaimedCycle, pollClaims, type PolledClaims } from './poll-claims.ts';
import { finishUploads } from './send-rows.ts';
import { showJobs } from '../job/show-progress.ts';
import { outcomeOf, worstOf } from '../job/verdict.ts';
import { outlast } from '../job/wait.ts';
import { waitingWords } from './options.ts';
import { countText } from '../../cli/output/time.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';

interface Advance extends Destination {
  readonly wait: boolean;
  /** The command that goes on later. */
  readonly again: readonly string[];
}

/** How far a cycle came in this command. */
export interface AdvancedCycle {
  readonly status: string;
  /** The number of rows that its jobs have. */
  readonly rows: number;
  readonly jobs: readonly string[];
  /** How many of its jobs have which status, such as "1 processing, 2 completed". */
  readonly progress: string;
  /** The results of all jobs that have some. */
  readonly results?: (ResultsFile & { readonly compared: boolean; readonly rowsSent: number }) | undefined;
  /** Why the results of some rows are missing. */
  readonly reason?: SvcError | undefined;
}

/** Returns the file for the results of a cycle, or of a file without one, in this directory. */
export function resultsOfCycle({ name, entries }: Pick<NamedCycle, 'name' | 'entries'>): string {
  const [first] = standingClaims(entries);
  if (!isFileCycle(name) || first === undefined) return `${name}.results.csv`;
  const file = first.file.name.replace(/^.*[/\\]/, '').replace(/(\.csv)?$/i, '.results.csv');
  return /^[\w. -]+$/.test(file) && !file.startsWith('.') ? file : `${name}.results.csv`;
}

/**
 * Checks, before any request, the file for the results of a cycle. A command that was interrupted may have written it, but only
 * if the results of every open job were read.
 * @throws SvcError `usage`
 */
export async function requireResultsFile({ entries }: Pick<NamedCycle, 'entries'>, to: Destination): Promise<void> {
  await requireDestination(to);
  if (openJobs(entries).some((job) => !isDone(entries, job))) await inspectTarget(to.out, to.force);
}

/**
 * Goes on with a cycle: finishes uploads that this machine began, polls the jobs of all machines or waits for them, and
 * writes the results of the whole cycle into one file once every job is completed.
 */
export async function advanceCycle(
  context: Context,
  client: Client,
  named: NamedCycle,
  how: Advance,
): Promise<AdvancedCycle> {
  const { again, wait } = how;
  const { name, ledger } = named;
  // A wait of days may be between two cycles of one command.
  compareBeforeEntry(context, ledger, again);
  let cycle = await claimedCycle(named);
  const onEvent = showJobs(context);
  await finishUploads(context, client, cycle, onEvent);
  // A time limit that ends the wait leaves no time to read the ledger, so it is read before.
  let unsent = await unsentRows(cycle);
  const poll = async (contested: ReadonlySet<string>): Promise<PolledClaims> => {
    const polled = await pollClaims(client, cycle, { wait, onEvent, again: waitingWords(again), contested });
    const before = cycle.entries.length;
    if (polled.reason === undefined) cycle = await outlast(context, wait, () => claimedCycle(named));
    if (cycle.entries.length === before) return polled;
    // During a wait of days, other machines may have sent more rows in the cycle.
    unsent = await unsentRows(cycle);
    return poll(contested);
  };
  return withContested(client, wait, async (contested) => {
    const { progress, reason: ofJobs, lost: missing } = await poll(contested);
    const reason = ofJobs && worstOf([ofJobs, unsent]);
    const doubts = missing.map((claim) => ({ claim, why: 'delivered' }) as const);
    const lost = doubtError(doubts, { cycle: name, now: client.now() });
    const row = { rows: rowsOf(cycle.claims), jobs: cycle.claims.map(({ job }) => job), progress };
    if (reason !== undefined) return { status: statusFor(reason), ...row, reason };
    const claims = cycle.claims.filter((claim) => !missing.includes(claim));
    const later = unsent ?? lost;
    if (claims.length === 0) return { status: statusFor(later), ...row, reason: later };
    // Results that lack rows replace no file, which may have them.
    const writing = { ...how, force: how.force && lost === undefined };
    try {
      const results = await writeResults(context, client, { ...cycle, claims }, writing);
      return { status: statusFor(later), ...row, results, reason: later };
    } catch (error) {
      if (error instanceof ContestedJob && !wait) return { status: statusFor(error), ...row, reason: error };
      const isOwn = lost !== undefined && isSvcError(error) && !(error instanceof ContestedJob);
      throw isOwn ? worseOf(context, lost, error, how.out) : error;
    }
  });
}

/** Returns a cycle as the ledger has it now. @throws SvcError `job_failed` if no claim stands */
async function claimedCycle(named: NamedCycle): Promise<ClaimedCycle> {
  const { name } = named;
  const entries = [...(await named.cycle.read())];
  const claims = standingClaims(entries);
  if (claims.length > 0) return { ...named, entries, claims: sorted(claims) };
  throw new SvcError('job_failed', `no job of cycle ${name} has rows any more: each failed or was freed`, {
    hint: 'Nothing was billed for them. Submit the files again:',
    next: submitWords('<file>', name),
    facts: { cycle: name },
  });
}

/** Sorts claims by file, and those of one file by the place of their rows. */
function sorted(claims: readonly ClaimEntry[]): ClaimEntry[] {
  const files = claims.map(({ file }) => file.sha256);
  return claims.toSorted((a, b) => files.indexOf(a.file.sha256) - files.indexOf(b.file.sha256) || a.part - b.part);
}

function rowsOf(claims: readonly ClaimEntry[]): number {
  return claims.reduce((sum, { rows }) => sum + rows, 0);
}

function statusFor(reason: SvcError | undefined): string {
  if (reason === undefined) return 'completed';
  return outcomeOf(reason) === 'pending' ? 'pending' : 'not completed';
}

/** Returns the worse of two errors, and warns of the other one. `lost` says which results are missing. */
function worseOf(context: Context, lost: SvcError, error: SvcError, out: string): SvcError {
  if (error.code === 'usage')
    return lost.with({
      message: `${lost.message}; ${shownPath(out)} was not replaced`,
      hint: `To write the other results, choose another file with --out. ${lost.hint ?? ''}`,
    });
  const isWorse = worstOf([error, lost]) === error;
  warnOf(context, 'results', isWorse ? lost : error);
  return isWorse ? error : lost;
}

/** Writes the results of all jobs into one file. */
async function writeResults(context: Context, client: Client, cycle: ClaimedCycle, { again, wait, ...to }: Advance) {
  const files: string[] = [];
  let compared = true;
  for (const claim of cycle.claims) {
    const get = (): Promise<JobResults> =>
      resultsOfJob(context, client, cycle, claim, { again: waitingWords(again), lateMs: LATE_MS });
    const results = await outlast(context, wait, get);
    files.push(results.file);
    compared &&= results.compared;
  }
  const merged = await deliverResults(context, files, to);
  // Every job stays open until the merged file is complete.
  await enterDelivery(
    context,
    cycle,
    cycle.claims.map(({ job }) => job),
  );
  if (!compared)
    context.notices.note('the results were not compared with the tokens of a request: this machine does not have it');
  return { ...merged, compared, rowsSent: rowsOf(cycle.claims) };
}

type RowSets = Pick<LedgerCycle, 'rowsOf'>;

interface CycleRows extends Pick<NamedCycle, 'name' | 'entries'> {
  readonly cycle: RowSets;
}

/**
 * Returns the error for rows that a job had which failed or never got its file, and that no other job has. Rows that the
 * operator freed after that are left to the operator. Undefined if there are none, or if a job may have any row.
 */
export async function unsentRows({ name, cycle, entries }: CycleRows): Promise<SvcError | undefined> {
  const ended = endedClaims(entries);
  const standing = standingClaims(entries);
  if (ended.length === 0 || standing.some(({ row_set: set }) => set === null)) return undefined;
  const settled = [...standing];
  // The last end of a row's claims decides, so the claims are read from the last one that ended to the first.
  for (const { claim, isFreed } of ended.toReversed()) {
    const { job, sha256, file } = claim;
    const rows = await cycle.rowsOf(claim);
    if (rows === undefined) continue;
    const sets = await Promise.all(settled.map((other) => cycle.rowsOf(other)));
    // Sets of an earlier build cannot be compared, but the same bytes are the same rows.
    const isSame = settled.some((other) => other.sha256 === sha256);
    const left = isSame ? 0 : rows.left(sets.filter((set) => set !== undefined));
    if (isFreed) settled.push(claim);
    else if (left > 0)
      return new SvcError(
        'job_failed',
        `no job has ${countText(left, 'row')} of ${file.name}: job ${job} ended without results`,
        {
          hint: 'The results of the cycle lack them. Submit the file again, which sends them in another job:',
          next: submitWords('<file>', name),
          facts: { job, cycle: name, rows: left },
        },
      );
  }
  return undefined;
}

interface EndedClaim {
  readonly claim: ClaimEntry;
  /** Whether the operator freed its rows. */
  readonly isFreed: boolean;
}

/** Returns the claims that do not stand, in the order in which they ended. */
function endedClaims(entries: readonly Entry[]): EndedClaim[] {
  const claims = new Map<string, ClaimEntry>();
  const ended = new Map<string, EndedClaim>();
  for (const entry of entries) {
    if (entry.kind === 'done') continue;
    const claim = claims.get(entry.job);
    // A job may end more than once, if it turned out to have its file after its first end.
    ended.delete(entry.job);
    if (entry.kind === 'claim') claims.set(entry.job, entry);
    else if (claim !== undefined) ended.set(entry.job, { claim, isFreed: entry.why === 'operator' });
  }
  return [...ended.values()];
}
