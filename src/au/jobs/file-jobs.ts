import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { countText, isoTime, parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { doubtError } from '../ledger/doubt.ts';
import { isDone } from '../ledger/claims.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { LATE_MS } from '../results/download.ts';
import { enterDelivery } from '../results/reading.ts';
import { type JobResults, resultsOfJob, type RowsOfJob, withContested } from '../results/job-results.ts';
import { deliverResults, type Destination, type ResultsFile } from '../results/merge.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { PartRows, rowNumbersOf } from '../results/rows-of-request.ts';
import type { Submission } from '../results/submission.ts';
import type { NamedCycle } from './named-cycle.ts';
import { pollClaims, type PolledClaims } from './poll-claims.ts';
import { showJobs } from '../job/show-progress.ts';
import { outlast } from '../job/wait.ts';
import { waitingWords } from './options.ts';

/** A job with rows of a file. */
export interface FileJob {
  readonly claim: ClaimEntry;
  /** The rows of the file that the job has, in the order of the file. */
  readonly rows: RowsOfJob;
}

/** Tells whether the rows of a claim were sent from this very file. */
export function isOfFile({ claim }: FileJob, { check }: Pick<RequestFile, 'check'>): boolean {
  return claim.file.sha256 === check.sha256;
}

/** The jobs with rows of a file, as the ledger has them. */
export interface FileJobs {
  readonly file: RequestFile;
  readonly jobs: readonly FileJob[];
  /** Whether the operator named the cycle. */
  readonly isNamed: boolean;
  readonly cycle: NamedCycle;
}

/** The results of a file on this machine. */
export interface FileResults extends ResultsFile {
  readonly found: FileJobs;
  /** The results of each job, in the order in which they were joined. */
  readonly jobs: readonly (FileJob & JobResults)[];
  readonly compared: boolean;
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
    const { reason, lost } = await pollFile(context, found, { wait, again, contested });
    if (reason !== undefined) throw reason;
    const isJoinable = delivered !== undefined && lost.length < found.jobs.length;
    const doubts = isJoinable ? [] : lost.map((claim) => ({ claim, why: 'delivered' }) as const);
    const doubt = doubtError(doubts, { cycle: found.cycle.name, now: client.now() });
    if (doubt) throw doubt;
    const how = { wait, again, delivered, lost: new Set(lost.map(({ job }) => job)) };
    return writeFile(context, client, found, to, how);
  });
}

async function writeFile(
  context: Context,
  client: Client,
  found: FileJobs,
  to: Destination,
  { wait, again, delivered, lost }: Polling & { readonly lost: ReadonlySet<string> },
): Promise<FileResults> {
  const { file, cycle } = found;
  const jobs: (FileJob & JobResults)[] = [];
  // The jobs are in the order in which the parts of the file were sent.
  for (const job of found.jobs.toSorted((a, b) => a.claim.part - b.claim.part)) {
    const how = { rows: job.rows, again, lateMs: wait ? LATE_MS : 0 };
    const get = (): Promise<JobResults> => resultsOfJob(context, client, cycle, job.claim, how);
    const joined = lost.has(job.claim.job) ? delivered : undefined;
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
  return { ...results, found, jobs, compared };
}

/**
 * Numbers the rows of each job as they are in the file. Returns undefined if the results of the jobs, one after the other, are
 * in the order of the file: then nothing needs memory, and the results stay byte for byte as they are. `joined` is a file with
 * results of several jobs, for those of the jobs that no other file has.
 * @throws SvcError `checksum_mismatch` for a token of such a job that another job has too: results name no merchant
 */
async function rowNumbers(
  file: Pick<RequestFile, 'check' | 'source'>,
  jobs: readonly (FileJob & Pick<JobResults, 'file'>)[],
  { cycle, joined }: { readonly cycle: string; readonly joined: string | undefined },
): Promise<readonly PartRows[] | undefined> {
  const isJoined = jobs.some((job) => job.file === joined);
  if (!isJoined && (await areSlices(file, jobs))) return undefined;
  const numberOf = await rowNumbersOf(file.source, file.check.rows);
  const found: PartRows[] = [];
  for (const { rows } of jobs) found.push(await PartRows.of([rows.source], rows.count, numberOf));
  for (const [at, job] of jobs.entries())
    if (job.file === joined && (await sharesToken(found[at], jobs.toSpliced(at, 1)))) throw inSeveralJobs(job, cycle);
  return found;
}

async function sharesToken(own: PartRows | undefined, others: readonly FileJob[]): Promise<boolean> {
  for (const { rows } of others)
    for await (const some of readRequest(rows.source.open()))
      if (some.some(({ token }) => own?.has(token) === true)) return true;
  return false;
}

function inSeveralJobs({ claim: { job }, file }: FileJob & Pick<JobResults, 'file'>, cycle: string): SvcError {
  const name = basename(file);
  return new SvcError(
    'checksum_mismatch',
    `the service does not find job ${job}, and ${name} does not show which results are of that job: it has a token that another job has too`,
    {
      hint: `${name} was left as it is. A machine that keeps the results of the job writes all files with the same command. The jobs of the cycle:`,
      next: ['au', 'status', cycle],
      facts: { job, file },
    },
  );
}

/** Tells whether some jobs have all rows of a file, and no others, one slice after the other. */
async function areSlices(
  { check, source }: Pick<RequestFile, 'check' | 'source'>,
  jobs: readonly FileJob[],
): Promise<boolean> {
  const [first] = jobs;
  if (jobs.length === 1) return first?.claim.sha256 === check.sha256;
  const isWhole = jobs.every(({ claim, rows }) => claim.file.sha256 === check.sha256 && claim.rows === rows.count);
  const count = jobs.reduce((sum, { rows }) => sum + rows.count, 0);
  if (!isWhole || count !== check.rows) return false;
  return (await linesHash([source])) === (await linesHash(jobs.map(({ rows }) => rows.source)));
}

async function linesHash(sources: readonly Rereadable[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources)
    for await (const rows of readRequest(source.open())) hash.update(rows.map(({ line }) => `${line}\n`).join(''));
  return hash.digest('hex');
}

/** Notes that results could not be compared with the rows that were sent. */
function noteUncompared(context: Context, file: string): void {
  context.notices.note('the results were not compared with the rows that were sent: this machine does not have them');
  noteNext(context, 'to compare them with a copy of the request', ['au', 'report', file, '--request', '<file>']);
}

/** The members that every row about a submitted file has. */
type SubmittedFile = Omit<Submission, 'status' | 'results'>;

/** Returns the row of a submitted file. `errors` are the left-out rows with an error as their result, once that is known. */
export function rowOfFile({ file, jobs, isNamed, cycle }: FileJobs, errors?: number): SubmittedFile {
  const own = jobs.filter((job) => isOfFile(job, file));
  const ids = jobs.map(({ claim }) => claim.job);
  const sent = countRows(own);
  const times = jobs.flatMap(({ claim }) => parseTime(claim.created_at) ?? []);
  return {
    file: file.name,
    cycle: isNamed ? cycle.name : null,
    rows: file.check.rows,
    sent,
    left_out: file.check.rows - sent,
    left_out_errors: own.length === jobs.length ? 0 : (errors ?? null),
    in_cycle_since: times.length === 0 ? null : isoTime(Math.min(...times)),
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
