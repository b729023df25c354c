import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import type { Summarize } from '../../cli/app/summary.ts';
import { countText } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { Client } from '../../client/api/client.ts';
import { hashIfReadable } from '../../client/transfer/source.ts';
import { openJobs, standingClaims } from '../ledger/claims.ts';
import { shownJobError, missingResultsError } from '../ledger/claim-errors.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { type NamedCycle, namedCycle } from '../ledger/named-cycle.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { openSpool } from '../request/spool-output.ts';
import { createSpool, type Spooled } from '../request/spool.ts';
import { actionsOf } from '../results/action-option.ts';
import { downloadResults, LATE_MS, NotCompleted } from '../results/download.ts';
import { mergeResults } from '../results/merge.ts';
import { checkThreshold, countedFile, printResults, RESULT_FIELDS, type Results } from '../results/submission.ts';
import { mayBeOf } from '../run/find-run.ts';
import { openRunSummary, refuseRequests } from '../run/own-requests.ts';
import { jobsOf, silentRuns } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { toneOf } from '../run/run-view.ts';
import { after, exitCodeOf, type Outcome, outcomeOf, resumable, worstOf } from '../run/verdict.ts';
import { showRun } from '../send/show-progress.ts';
import { summaryTitle } from '../wait/describe-run.ts';
import { optionWords, waitingWords } from '../wait/wait-options.ts';
import { type ClaimedCycle, pollClaims, type PolledClaims } from './poll-claims.ts';
import { dueRuns, resumeRuns } from './resume-all.ts';
import type { ResumeInput } from './resume-parameters.ts';

/** A cycle of the ledger, with the results of all of its jobs once these are completed. */
interface ResumedCycle {
  readonly cycle: string;
  readonly status: string;
  /** The number of rows that its jobs have. */
  readonly rows: number;
  readonly jobs: readonly string[];
  /** How many of its jobs have which status, such as "1 processing, 2 completed". */
  readonly progress: string;
  readonly results?: Results | Pick<Results, 'file'>;
}

export const resumedCycleView: View<ResumedCycle> = {
  name: 'cycle',
  fields: fieldPaths(`cycle status rows jobs progress ${RESULT_FIELDS}`),
  columns: [
    { path: 'cycle', kind: 'text' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'progress', kind: 'text' },
  ],
};

/**
 * Goes on with what this machine sent in a cycle, then polls the jobs of all machines, or waits for them with `--wait`, and
 * writes the results of the whole cycle into one file once every job is completed.
 */
export async function resumeCycle(context: Context, typed: string, input: ResumeInput): Promise<number> {
  const print = await recordPrinter(context, resumedCycleView);
  const out = input.out ?? `${typed.toLowerCase()}.results.csv`;
  const isResults = await isResultFile(out);
  if (input.force || !isResults) await inspectTarget(out, input.force);
  const client = await context.client();
  const cycle = await namedCycle(context, client, typed, { onlyReads: input.dryRun });
  const ofCycle = isOfCycle(cycle);
  refuseRequests(context, { '--out': out }, (await silentRuns(context)).filter(ofCycle));
  // Reading results enters them as read for all machines, so the command stops first if it could not write them.
  if (!input.force && openJobs(cycle.entries).length > 0) await inspectTarget(out, false);
  const runs = (await dueRuns(context)).runs.filter(ofCycle);
  if (input.dryRun) {
    const claims = standingClaims(cycle.entries);
    const rest = runs.length === 0 ? '' : `go on with ${countText(runs.length, 'run')} of this machine, then `;
    context.notices.note(`dry run: it would ${rest}poll ${countText(claims.length, 'job')} and write ${out}`);
    return 0;
  }
  const summarize = await openRunSummary(context, input.summary);
  const again = ['au', 'resume', cycle.name, ...optionWords(input)];
  const round = { failOn: undefined, summarize, wait: input.wait, again };
  const outcomes = await resumeRuns(context, runs, round);
  // A run that still waits has jobs of the cycle, which are polled here.
  const ofRuns = [...outcomes.values()].filter((outcome) => outcome !== 'pending');
  try {
    return await deliverCycle(context, client, cycle, { ...input, out, summarize, print, ofRuns, again });
  } catch (error) {
    if (!isSvcError(error, 'timeout')) throw error;
    // The service may have said before the time was over that a run of this machine is under way, or something worse.
    const isPending = ofRuns.length < outcomes.size;
    endUnfinished(context, cycle.name, isPending ? error.with({ code: 'pending' }) : error, ofRuns);
    return exitCodeOf(ofRuns);
  }
}

async function isResultFile(name: string): Promise<boolean> {
  const stat = await fs.promises.stat(name).catch(() => undefined);
  return stat?.isFile() === true && (await recognizeFile(name)) === 'results';
}

/** Returns a function that tells whether a run has jobs of the cycle, or rows to send in it. */
function isOfCycle({ name, tenant, entries }: NamedCycle): (run: RunDirectory) => boolean {
  const jobs = new Set(standingClaims(entries).map(({ job }) => job));
  // Another tenant may have a cycle of the same name.
  return ({ record }) =>
    (record.cycle === name && mayBeOf(record, tenant)) || jobsOf(record).some((job) => jobs.has(job));
}

interface Delivery extends Pick<ResumeInput, 'wait' | 'force' | 'failOn'> {
  readonly out: string;
  readonly summarize: Summarize;
  readonly print: (row: ResumedCycle) => Promise<void>;
  /** The command that continues an interrupted one. */
  readonly again: readonly string[];
  /** What became of the runs of this machine. */
  readonly ofRuns: readonly Outcome[];
}

/** Resolves to the exit code of the worst of the runs of this machine, where nothing of the cycle is worse. */
async function deliverCycle(context: Context, client: Client, named: NamedCycle, how: Delivery): Promise<number> {
  // What the runs of this machine sent or settled just now counts.
  let cycle = await claimedCycle(named);
  const jobs = (): string[] => cycle.claims.map(({ job }) => job);
  const ofRuns = exitCodeOf(how.ofRuns);
  let status = 'not completed';
  const contested = new Set<string>();
  const poll = async (): Promise<PolledClaims> => {
    const polling = { wait: how.wait, onEvent: showRun(context), again: waitingWords(how.again), contested };
    const polled = await pollClaims(client, cycle, polling);
    const before = cycle.entries.length;
    if (polled.reason === undefined) cycle = await claimedCycle(named);
    // During a wait of days, other machines may have sent more rows in the cycle.
    return cycle.entries.length === before ? polled : poll();
  };
  const work = async (): Promise<void> => {
    const { progress, reason, unsent, forgotten } = await resumable(how.again, { cycle: cycle.name }, poll());
    const missing = await withoutResults(cycle, forgotten);
    const lost = missing.length === 0 ? undefined : missingResultsError(cycle.name, missing);
    status = statusFor(ofRuns, reason ?? unsent ?? lost);
    const row = { cycle: cycle.name, status, rows: rowsOf(cycle.claims), jobs: jobs(), progress };
    if (reason !== undefined || ofRuns !== 0) {
      await how.print(row);
      return endUnfinished(context, cycle.name, reason, how.ofRuns);
    }
    const claims = cycle.claims.filter((claim) => !missing.includes(claim));
    // Results that lack rows replace no file, which may have them.
    const writing = { ...how, force: how.force && lost === undefined };
    try {
      await writeAndShow(context, client, { ...cycle, claims }, row, writing);
      if (unsent) throw unsent;
    } catch (error) {
      if (error instanceof ContestedJob) status = statusFor(ofRuns, error);
      if (error instanceof ContestedJob && how.wait) {
        contested.add(error.job);
        await resumable(how.again, { cycle: cycle.name }, pauseAfter(client, error));
        return work();
      }
      throw lost && isSvcError(error) ? worseOf(context, lost, error, how.out) : error;
    }
    if (lost) throw lost;
  };
  await how.summarize(work, () => ({
    title: summaryTitle(status),
    facts: [
      ['cycle', cycle.name],
      ['jobs', jobs().join(', ')],
    ],
  }));
  return ofRuns;
}

/** The error for a job that a response showed as completed and a later read does not, so that its results must wait. */
class ContestedJob extends SvcError {
  readonly job: string;

  constructor(job: string, error: SvcError) {
    super(error.code, error.message, error);
    this.job = job;
  }
}

/** How long to wait before such a job is read again. */
const CONTESTED_MS = 5_000;

async function pauseAfter({ clock, signal }: Client, error: ContestedJob): Promise<void> {
  try {
    await clock.sleep(CONTESTED_MS, signal);
  } catch (reason) {
    throw isSvcError(reason, 'timeout') ? after(reason, error) : reason;
  }
}

function rowsOf(claims: readonly ClaimEntry[]): number {
  return claims.reduce((sum, { rows }) => sum + rows, 0);
}

/** Returns the claims of which this machine has no results. */
async function withoutResults({ ledger }: ClaimedCycle, claims: readonly ClaimEntry[]): Promise<ClaimEntry[]> {
  const missing: ClaimEntry[] = [];
  for (const claim of claims) if ((await ledger.keptResults(claim.job)) === undefined) missing.push(claim);
  return missing;
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

/** Returns a cycle as the ledger has it now. @throws SvcError `job_failed` if no claim stands */
async function claimedCycle(named: NamedCycle): Promise<ClaimedCycle> {
  const { name } = named;
  const entries = [...(await named.cycle.read())];
  const claims = standingClaims(entries);
  if (claims.length > 0) return { ...named, entries, claims };
  throw new SvcError('job_failed', `no job of cycle ${name} has rows any more: each failed or was freed`, {
    hint: 'Nothing was billed for them. Submit the files again:',
    next: ['au', 'submit', '<file>', '--cycle', name],
    facts: { cycle: name },
  });
}

/** Ends with the error of the cycle, or warns of it if something is worse that became of a run of this machine. */
function endUnfinished(context: Context, name: string, reason: SvcError | undefined, ofRuns: readonly Outcome[]): void {
  if (reason === undefined) return;
  const own = exitCodeOf([outcomeOf(reason)]);
  if (exitCodeOf([...ofRuns, outcomeOf(reason)]) === own) throw reason;
  warnOf(context, `cycle ${name}`, reason);
}

/** Writes the results of the jobs of a cycle, and shows them. Then checks `--fail-on`. */
async function writeAndShow(
  context: Context,
  client: Client,
  cycle: ClaimedCycle,
  row: ResumedCycle,
  how: Delivery,
): Promise<void> {
  if (cycle.claims.length === 0) return how.print(row);
  const merging = writeCycleResults(context, client, cycle, how);
  await showResults(context, row, await resumable(how.again, { cycle: cycle.name }, merging), how);
}

/** Shows the results of a cycle. Then checks `--fail-on`. */
async function showResults(
  context: Context,
  row: ResumedCycle,
  written: Awaited<ReturnType<typeof writeCycleResults>>,
  { print, failOn }: Delivery,
): Promise<void> {
  const { rowsSent, ...file } = written;
  const { notices, clock } = context;
  const showing = { notices, clock, name: file.file };
  const counted = await countedFile(file, rowsSent, actionsOf(context, []), showing);
  const results = { ...counted, compared: file.compared };
  await printResults(context, print, row, results);
  if (row.status === 'completed') context.notices.success(`cycle ${row.cycle} completed: results in ${results.file}`);
  else context.notices.note(`the results of the jobs that are completed are in ${results.file}`);
  checkThreshold(results, rowsSent, failOn);
}

/** Returns the status of a cycle: completed only if nothing of this machine failed either. */
function statusFor(ofRuns: number, reason: SvcError | undefined): string {
  if (reason === undefined) return ofRuns === 0 ? 'completed' : 'not completed';
  return outcomeOf(reason) === 'pending' ? 'pending' : 'not completed';
}

/** Writes the results of all jobs into one file, in the order in which the ledger has the jobs. */
async function writeCycleResults(context: Context, client: Client, cycle: ClaimedCycle, how: Delivery) {
  const { out, force } = how;
  const spooled: Spooled[] = [];
  try {
    const files: string[] = [];
    let compared = true;
    for (const claim of cycle.claims) {
      const kept = await cycle.ledger.keptResults(claim.job);
      if (kept !== undefined) {
        files.push(kept.file);
        compared &&= kept.results.compared === true;
        continue;
      }
      const spool = await createSpool(context.system);
      spooled.push(spool);
      await downloadJob(context, client, cycle, claim, { file: spool.path, again: waitingWords(how.again) });
      files.push(spool.path);
      compared = false;
    }
    const merged = await mergeInto(context, files, { out, force });
    // Every job stays open until the merged file is complete.
    for (const { job } of cycle.claims) await cycle.ledger.markDelivered(cycle.tenant, job);
    if (!compared)
      context.notices.note('the results were not compared with the tokens of a request: this machine does not have it');
    return { ...merged, compared, rowsSent: rowsOf(cycle.claims) };
  } finally {
    for (const spool of spooled) await spool.remove();
  }
}

/** Merges results into a file. An existing file with the same bytes stays. @throws SvcError `usage` for any other one */
async function mergeInto(context: Context, files: readonly string[], { out, force }: Pick<Delivery, 'out' | 'force'>) {
  const present = force ? undefined : await presentResults(context, files, out);
  if (present !== undefined) return present;
  const target = path.resolve((await inspectTarget(out, force)).path);
  try {
    return { file: shownPath(target), ...(await mergeResults(files, target, { overwrite: force })) };
  } catch (error) {
    // Another process may have written the same results meanwhile.
    const written = isSvcError(error, 'usage') ? await presentResults(context, files, out) : undefined;
    if (written === undefined) throw error;
    return written;
  }
}

/** Returns the merged results if a file has exactly their bytes. */
async function presentResults(context: Context, files: readonly string[], out: string) {
  if (!(await isResultFile(out))) return undefined;
  const merged = await mergeResults(files, await openSpool(context), { overwrite: true });
  return (await hashIfReadable(out)) === merged.sha256 ? { file: shownPath(path.resolve(out)), ...merged } : undefined;
}

/**
 * Downloads the results of one job and records their new tokens. The job counts as delivered once the merged file is complete.
 * @throws ContestedJob if the service does not show the job as completed now
 */
async function downloadJob(
  context: Context,
  client: Client,
  { name, tenant, ledger }: NamedCycle,
  claim: ClaimEntry,
  { file, again }: { readonly file: string; readonly again: readonly string[] },
): Promise<void> {
  const { job, rows } = claim;
  try {
    await downloadResults(client, job, file, {
      rowsSent: rows,
      onEvent: showRun(context),
      lateMs: LATE_MS,
      compareRead: (read) => ledger.compareRead(tenant, job, read),
      onAccepted: (accepted) => ledger.enterWanted(tenant, job, accepted),
    });
  } catch (error) {
    if (error instanceof NotCompleted) throw new ContestedJob(job, error.with({ next: again }));
    throw isSvcError(error, 'job_expired') ? new ContestedJob(job, shownJobError(claim, name, again)) : error;
  }
}
