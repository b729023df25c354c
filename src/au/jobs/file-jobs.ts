import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { countText } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { doubtError } from '../ledger/doubt.ts';
import { isDone } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { LATE_MS } from '../results/download.ts';
import { enterDelivery, keptResults } from '../results/reading.ts';
import { type FileJob, inOrder, isOfFile, rowNumbers } from '../results/file-results.ts';
import type { FileJobs } from './submit-file.ts';
import { type JobResults, resultsOfJob, withContested } from '../results/job-results.ts';
import { deliverResults, type Destination, type ResultsFile } from '../results/merge.ts';
import type { Submission } from '../results/submission.ts';
import { deliverFixFile } from './fix-file.ts';
import { pollClaims, type PolledClaims } from './poll-claims.ts';
import { showJobs } from '../job/show-progress.ts';
import { outlast } from '../job/wait.ts';
import { waitingWords } from './options.ts';

/** The results of a file on this machine. */
export interface FileResults extends ResultsFile {
  readonly found: FileJobs;
  /** The results of each job, in the order in which they were joined. */
  readonly jobs: readonly (FileJob & JobResults)[];
  readonly compared: boolean;
  /** How many left-out rows have an error as their result, at most. */
  readonly leftOutErrors: number;
}

/** Returns the number of rows of some jobs. */
function countRows(jobs: readonly FileJob[]): number {
  return jobs.reduce((sum, { rows }) => sum + rows.count, 0);
}

interface Polling {
  readonly wait: boolean;
  /** A file with results that were delivered before, also of jobs that the service does not find any more. */
  readonly delivered?: string | undefined;
  /** The command that goes on later. */
  readonly again: readonly string[];
  readonly contested?: ReadonlySet<string> | undefined;
}

/** Polls some of the jobs of a file, or waits for them with `wait`. */
export async function pollFile(
  context: Context,
  { file, jobs, cycle }: FileJobs,
  { wait, again, contested = new Set() }: Polling,
): Promise<PolledClaims> {
  const client = await context.client();
  const claims = jobs.map(({ claim }) => claim);
  const label = claims.length === 1 ? (claims[0]?.job ?? '') : `${file.name} in ${countText(claims.length, 'job')}`;
  const waiting = waitingWords(again);
  const polling = { wait, again: waiting, resubmit: waiting, contested, label, onEvent: showJobs(context) };
  return pollClaims(client, { ...cycle, claims }, polling);
}

/**
 * Polls the jobs of a file or waits for them, and writes their results into one file, in the order of the request.
 * @throws SvcError why there are no results of all rows
 */
export async function deliverFile(
  context: Context,
  jobsNow: () => Promise<FileJobs>,
  to: Destination,
  { wait, again, delivered }: Polling,
): Promise<FileResults> {
  const client = await context.client();
  return withContested(client, wait, async (contested) => {
    const found = await outlast(context, wait, jobsNow);
    const { reason, forgotten } = await pollFile(context, found, { wait, again, contested });
    if (reason !== undefined) throw reason;
    const { tenant, ledger, name } = found.cycle;
    const missing = await withoutResults(ledger, tenant, forgotten);
    const isJoinable = delivered !== undefined && missing.length < found.jobs.length;
    const doubts = isJoinable ? [] : missing.map((claim) => ({ claim, why: 'delivered' }) as const);
    const lost = doubtError(doubts, { cycle: name, now: client.now() });
    if (lost) throw lost;
    const how = { wait, again, delivered, missing: new Set(missing.map(({ job }) => job)) };
    return writeFile(context, client, found, to, how);
  });
}

/** Returns the claims of which this machine keeps no results. */
export async function withoutResults(
  ledger: CommandLedger,
  tenant: string,
  claims: readonly ClaimEntry[],
): Promise<ClaimEntry[]> {
  const missing: ClaimEntry[] = [];
  for (const claim of claims) if ((await keptResults(ledger, tenant, claim.job)) === undefined) missing.push(claim);
  return missing;
}

async function writeFile(
  context: Context,
  client: Client,
  found: FileJobs,
  to: Destination,
  { wait, again, delivered, missing }: Polling & { readonly missing: ReadonlySet<string> },
): Promise<FileResults> {
  const { file, cycle } = found;
  const jobs: (FileJob & JobResults)[] = [];
  for (const job of inOrder(found.jobs)) {
    const how = { rows: job.rows, again, lateMs: wait ? LATE_MS : 0 };
    const get = (): Promise<JobResults> => resultsOfJob(context, client, cycle, job.claim, how);
    const joined = missing.has(job.claim.job) ? delivered : undefined;
    jobs.push({
      ...job,
      ...(joined === undefined ? await outlast(context, wait, get) : { file: joined, compared: true }),
    });
  }
  const numbers = await rowNumbers(file, jobs, { cycle: cycle.name, joined: delivered });
  const results = await deliverResults(
    context,
    jobs.map((job) => job.file),
    to,
    numbers,
  );
  // A file may have only some rows of the job of another file.
  const whole = jobs.filter(({ claim, rows }) => rows.count >= claim.rows);
  await enterDelivery(
    context,
    cycle,
    whole.map(({ claim }) => claim.job),
  );
  const compared = jobs.every((job) => job.compared);
  if (!compared) noteUncompared(context, results.file);
  const leftOutErrors = await deliverFixFile(context, found, jobs, results);
  return { ...results, found, jobs, compared, leftOutErrors };
}

/** Notes that results could not be compared with the rows that were sent. */
function noteUncompared(context: Context, file: string): void {
  context.notices.note('the results were not compared with the rows that were sent: this machine does not have them');
  noteNext(context, 'to compare them with a copy of the request', ['au', 'report', file, '--request', '<file>']);
}

/** The members that every row about a submitted file has. */
type SubmittedFile = Omit<Submission, 'status' | 'in_cycle_since' | 'results'>;

/** Returns the row of a submitted file. `errors` are the left-out rows with an error as their result, once that is known. */
export function rowOfFile({ file, jobs, isNamed, cycle }: FileJobs, errors?: number): SubmittedFile {
  const own = jobs.filter((job) => isOfFile(job, file));
  const ids = jobs.map(({ claim }) => claim.job);
  const sent = countRows(own);
  return {
    file: file.name,
    cycle: isNamed ? cycle.name : null,
    rows: file.check.rows,
    sent,
    left_out: file.check.rows - sent,
    left_out_errors: own.length === jobs.length ? 0 : (errors ?? null),
    job: ids.length === 1 ? (ids[0] ?? null) : null,
    jobs: ids,
  };
}

/** Returns the status of jobs that were polled, in one word. */
export function statusOfJobs(
  jobs: readonly FileJob[],
  { cycle }: Pick<FileJobs, 'cycle'>,
  polled: PolledClaims,
): string {
  const statuses = jobs.map(
    ({ claim }) => polled.statuses.get(claim.job) ?? (isDone(cycle.entries, claim.job) ? 'completed' : 'unknown'),
  );
  if (statuses.includes('failed')) return 'failed';
  if (statuses.includes('unknown')) return 'unknown';
  return statuses.every((status) => status === 'completed') ? 'completed' : 'pending';
}

/** Tells whether a job waits for the file of another machine, so that its rows are not submitted yet. */
export function waitsForFile({ cycle }: Pick<FileJobs, 'cycle'>, { statuses }: PolledClaims): boolean {
  return [...statuses].some(([job, status]) => status === 'pending' && cycle.ledger.jobFiles(job).sent !== 'stored');
}
