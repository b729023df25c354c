// Takes a cycle as far as it gets in one command: finishes its uploads, polls its jobs and writes their results.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import type { Client } from '../../client/api/client.ts';
import { doubtError } from '../ledger/doubt.ts';
import { wereResultsRead, openJobs, sortClaims, standingClaims } from '../ledger/claims.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';
import { type RowsWithoutJob, rowsWithoutJob } from '../ledger/rows-without-job.ts';
import { resubmitWords } from './claim-texts.ts';
import type { NamedCycle } from './named-cycle.ts';
import { STANDARD_INPUT } from '../request/open-request-file.ts';
import { ContestedJob, type JobResults, resultsOfJob, withContested } from '../results/job-results.ts';
import { LATE_MS } from '../results/download.ts';
import { isOwnResults } from '../results/own-results.ts';
import { enterDelivery } from '../results/reading.ts';
import { type DeliveredResults, deliverResults, type Destination, requireDestination } from '../results/merge.ts';
import { compareBeforeEntry } from './compare-jobs.ts';
import { pollClaims, type PolledClaims } from './poll-claims.ts';
import type { ClaimedCycle } from './missing-results.ts';
import { finishUploads } from './send-rows.ts';
import { claimFoundJobs } from './settle-claims.ts';
import { showJobs } from '../job/show-progress.ts';
import { outcomeOf, worstOf } from '../job/verdict.ts';
import { outlast } from '../job/wait.ts';
import { withWait } from './options.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { cleanText } from '../../cli/output/text.ts';

interface AdvanceOptions extends Destination {
  readonly wait: boolean;
  /** The command that continues the cycle later, as words. */
  readonly again: readonly string[];
}

/** How far a cycle came in this command. */
export interface AdvancedCycle {
  readonly status: string;
  /** The number of rows in all jobs of the cycle. */
  readonly rows: number;
  readonly jobs: readonly string[];
  /** The number of jobs by status, such as "1 processing, 2 completed". */
  readonly progress: string;
  /** Whether a job is under way, so that a wait may bring more results. */
  readonly isUnderWay: boolean;
  /** The merged results of the completed jobs. */
  readonly results?: (DeliveredResults & { readonly compared: boolean; readonly rowsSent: number }) | undefined;
  /** Why the results of some rows are missing. */
  readonly reason?: SvcError | undefined;
}

/** Returns the file in the current directory for the results of a cycle, or of a file without a cycle. */
export function resultsOfCycle({ name, entries }: Pick<NamedCycle, 'name' | 'entries'>): string {
  const [first] = standingClaims(entries);
  // Several files may have come from standard input.
  if (!isFileCycle(name) || first === undefined || first.file.name === STANDARD_INPUT) return `${name}.results.csv`;
  const file = first.file.name.replace(/^.*[/\\]/, '').replace(/(\.csv)?$/i, '.results.csv');
  return /^[\w. -]+$/.test(file) && !file.startsWith('.') ? file : `${name}.results.csv`;
}

/**
 * Checks the results file of a cycle before any request. An existing file counts as written by an interrupted command if the
 * results of every open job were read, and as incomplete if it has the results of the others.
 * @throws SvcError `usage`
 */
export async function requireResultsFile(context: Context, named: NamedCycle, to: Destination): Promise<void> {
  await requireDestination(to);
  const { entries } = named;
  if (openJobs(entries).every((job) => wereResultsRead(entries, job))) return;
  await inspectTarget(to.out, to.force || (await isOwnResults(context, named, to.out)));
}

/**
 * Continues a cycle: finishes the uploads that this machine began, polls the jobs of all machines or waits for them, and
 * writes the results of the whole cycle into one file once every job is completed.
 */
export async function advanceCycle(
  context: Context,
  client: Client,
  named: NamedCycle,
  options: AdvanceOptions,
): Promise<AdvancedCycle> {
  const { again, wait } = options;
  const { name, ledger } = named;
  // Days may pass between two cycles of one command, so the jobs are compared with the ledger for each cycle.
  compareBeforeEntry(context, ledger, again);
  let cycle = await claimedCycle(context, client, named);
  const onEvent = showJobs(context);
  await finishUploads(context, client, cycle, onEvent);
  // Read before the wait: a time limit that ends the wait leaves no time to read the ledger.
  let lostRows = await rowsWithoutJob(cycle);
  const { cwd } = context.system;
  const resubmit = (claim: ClaimEntry) => resubmitWords(claim, name, cwd);
  const poll = async (contested: ReadonlySet<string>): Promise<PolledClaims> => {
    const polled = await pollClaims(client, cycle, { wait, onEvent, again: withWait(again), resubmit, contested });
    const before = cycle.entries.length;
    if (polled.reason === undefined) cycle = await outlast(context, wait, () => claimedCycle(context, client, named));
    if (cycle.entries.length === before) return polled;
    // Other machines sent more rows of the cycle during the wait.
    lostRows = await rowsWithoutJob(cycle);
    return poll(contested);
  };
  return withContested(client, wait, async (contested) => {
    const { progress, statuses, reason: jobsReason, lost: lostClaims } = await poll(contested);
    // Another command may still send the rows that never had a job.
    const ended = lostRows.filter(({ isEnded }) => isEnded);
    const unsent = await withoutJobError(context, name, ended);
    const reason = jobsReason && worstOf([jobsReason, unsent]);
    const doubts = lostClaims.map((claim) => ({ claim, why: 'delivered' }) as const);
    const lost = doubtError(doubts, { cycle: name, now: client.now() });
    const isUnderWay = [...statuses.values()].some((status) => status === 'pending' || status === 'processing');
    const row = { rows: countRows(cycle.claims), jobs: cycle.claims.map(({ job }) => job), progress, isUnderWay };
    if (reason !== undefined) return { status: statusFor(reason), ...row, reason };
    const claims = cycle.claims.filter((claim) => !lostClaims.includes(claim));
    const missing = unsent ?? lost ?? (await withoutJobError(context, name, lostRows));
    if (claims.length === 0) return { status: statusFor(missing), ...row, reason: missing };
    // A file from an earlier command may have the rows that these results lack, so it is not replaced.
    const writing = { ...options, force: options.force && lost === undefined };
    try {
      const results = await writeResults(context, client, { ...cycle, claims }, writing);
      return { status: statusFor(missing), ...row, results, reason: missing };
    } catch (error) {
      const isContested = error instanceof ContestedJob;
      if (isContested && !wait) return { status: statusFor(error), ...row, reason: error };
      if (lost === undefined || isContested || !isSvcError(error)) throw error;
      throw worseError(context, lost, error, options.out);
    }
  });
}

/** Reads a cycle and its standing claims from the ledger. Abandoned jobs that have their files get their claims back. */
async function claimedCycle(context: Context, client: Client, named: NamedCycle): Promise<ClaimedCycle> {
  await claimFoundJobs(client, named.cycle, (text) => context.notices.warn(text));
  const entries = [...(await named.cycle.read())];
  return { ...named, entries, claims: sortClaims(standingClaims(entries)) };
}

function countRows(claims: readonly ClaimEntry[]): number {
  return claims.reduce((sum, { rows }) => sum + rows, 0);
}

function statusFor(reason: SvcError | undefined): string {
  if (reason === undefined) return 'completed';
  return outcomeOf(reason) === 'pending' ? 'pending' : 'not completed';
}

/** Returns the worse of two errors, and warns of the other. `lost` names the jobs whose results are missing. */
function worseError(context: Context, lost: SvcError, error: SvcError, out: string): SvcError {
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
async function writeResults(
  context: Context,
  client: Client,
  cycle: ClaimedCycle,
  { again, wait, ...to }: AdvanceOptions,
) {
  const files: string[] = [];
  let compared = true;
  for (const claim of cycle.claims) {
    const get = (): Promise<JobResults> =>
      resultsOfJob(context, client, cycle, claim, { again: withWait(again), lateMs: LATE_MS });
    const results = await outlast(context, wait, get);
    files.push(results.file);
    compared &&= results.compared;
  }
  const force = to.force || (await isOwnResults(context, cycle, to.out));
  const merged = await deliverResults(context, files, { ...to, force, again: withWait(again) });
  // Every job stays open until the merged file is complete.
  await enterDelivery(
    context,
    cycle,
    cycle.claims.map(({ job }) => job),
  );
  if (!compared)
    context.notices.note('the results were not compared with the tokens of a request: this machine does not have it');
  return { ...merged, compared, rowsSent: countRows(cycle.claims) };
}

/** Returns the error for rows of a cycle that no job has; undefined without such rows. */
export async function withoutJobError(
  { system: { cwd } }: Pick<Context, 'system'>,
  name: string,
  lost: readonly RowsWithoutJob[],
): Promise<SvcError | undefined> {
  const [first] = lost;
  if (first === undefined) return undefined;
  const texts = lost.map(({ claim: { job, file }, isEnded, isAbandoned, rows: { size } }) =>
    isEnded
      ? `${countText(size, 'row')} of ${cleanText(file.name)}: job ${job} ${isAbandoned ? 'was abandoned, and its rows may have been paid for' : 'ended without results'}`
      : `${formatNumber(size)} of ${countText(file.rows, 'row')} of ${cleanText(file.name)}`,
  );
  const jobs = [...new Set(lost.map(({ claim }) => claim.job))];
  const submit = await resubmitWords(first.claim, name, cwd);
  const abandon = jobs.slice(0, MOST_NAMED).map((job) => ['au', 'abandon', job]);
  const isAnyAbandoned = lost.some(({ isAbandoned }) => isAbandoned);
  const [next = submit, ...alternatives] = isAnyAbandoned ? [...abandon, submit] : [submit, ...abandon];
  const sends = `the ${isAnyAbandoned ? 'last' : 'first'} of these commands sends them in another job`;
  return new SvcError('job_failed', `no job of ${name} has ${texts.join('; nor ')}`, {
    hint: `The results of the cycle lack them. Unless a command is still sending them, ${sends}, and svc au resume then replaces the results. au abandon leaves them out of the cycle:`,
    next,
    alternatives,
    facts: {
      ...(jobs.length === 1 && { job: jobs[0] }),
      cycle: name,
      rows: lost.reduce((sum, { rows }) => sum + rows.size, 0),
    },
  });
}

/** How many jobs are named with a command each. */
const MOST_NAMED = 5;
