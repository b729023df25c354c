// Polls the jobs with rows of one request file, and writes their results in the order of the file.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { isoTime, parseTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { doubtError } from '../ledger/doubt.ts';
import { wereResultsRead } from '../ledger/claims.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { LATE_MS } from '../results/download.ts';
import { isOwnResults } from '../results/own-results.ts';
import { enterDelivery } from '../results/reading.ts';
import { type JobResults, resultsOfJob, type RowsOfJob, withContested } from '../results/job-results.ts';
import { type DeliveredResults, deliverResults, type Destination, nextFileOf } from '../results/merge.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { PartRows, rowNumbersOf } from '../results/rows-of-request.ts';
import type { Submission } from '../results/submission.ts';
import type { NamedCycle } from './named-cycle.ts';
import { pollClaims, type PolledClaims } from './poll-claims.ts';
import { showJobs } from '../job/show-progress.ts';
import { outlast } from '../job/wait.ts';
import { withWait } from './options.ts';

/** A job with rows of a file. */
export interface FileJob {
  readonly claim: ClaimEntry;
  /** The job's rows of the file, in the order of the file. */
  readonly rows: RowsOfJob;
}

/** Tells whether the rows of a job were sent from this file, not from another file with the same rows. */
export function isOfFile({ claim }: FileJob, { check }: Pick<RequestFile, 'check'>): boolean {
  return claim.file.sha256 === check.sha256;
}

/** The jobs in the ledger that have rows of a file. */
export interface FileJobs {
  readonly file: RequestFile;
  readonly jobs: readonly FileJob[];
  /** Whether the operator named the cycle. */
  readonly isNamed: boolean;
  readonly cycle: NamedCycle;
}

/** The results of a file on this machine. */
export interface FileResults extends DeliveredResults {
  readonly fileJobs: FileJobs;
  /** The results of each job, in the order of the parts of the file. */
  readonly jobs: readonly (FileJob & JobResults)[];
  readonly compared: boolean;
}

function countRows(jobs: readonly FileJob[]): number {
  return jobs.reduce((sum, { rows }) => sum + rows.count, 0);
}

interface PollFileOptions {
  readonly wait: boolean;
  /** The results file of an earlier delivery. It may have results of jobs that the service has forgotten. */
  readonly delivered?: string | undefined;
  /** The command that continues later, as words. */
  readonly again: readonly string[];
  /** The command that sends the rows of a failed job again. Default: `again`. */
  readonly resubmit?: readonly string[] | undefined;
  readonly contested?: ReadonlySet<string> | undefined;
}

/** Polls the jobs of a file once, or until they end with `wait`. */
export async function pollFile(
  context: Context,
  { file, jobs, cycle }: FileJobs,
  { wait, again, resubmit = again, contested = new Set() }: PollFileOptions,
): Promise<PolledClaims> {
  const client = await context.client();
  const claims = jobs.map(({ claim }) => claim);
  const label = claims.length === 1 ? (claims[0]?.job ?? '') : `${file.name} in ${countText(claims.length, 'job')}`;
  const words = { again: withWait(again), resubmit: async () => withWait(resubmit) };
  return pollClaims(client, { ...cycle, claims }, { wait, ...words, contested, label, onEvent: showJobs(context) });
}

/**
 * Polls the jobs of a file or waits for them, and writes their results into one file, in the order of the request.
 * @throws SvcError the reason why the results of some rows are missing
 */
export async function deliverFile(
  context: Context,
  readJobs: () => Promise<FileJobs>,
  destination: Destination,
  { wait, again, resubmit, delivered }: PollFileOptions,
): Promise<FileResults> {
  const client = await context.client();
  return withContested(client, wait, async (contested) => {
    const fileJobs = await outlast(context, wait, readJobs);
    const { reason, lost } = await pollFile(context, fileJobs, { wait, again, resubmit, contested });
    if (reason !== undefined) throw reason;
    // The earlier results file replaces the results of lost jobs, as long as the service still has some of the jobs.
    const isJoinable = delivered !== undefined && lost.length < fileJobs.jobs.length;
    const doubts = isJoinable ? [] : lost.map((claim) => ({ claim, why: 'delivered' }) as const);
    const doubt = doubtError(doubts, { cycle: fileJobs.cycle.name, now: client.now() });
    if (doubt) throw doubt;
    const lostJobs = new Set(lost.map(({ job }) => job));
    return writeResults(context, client, fileJobs, destination, { wait, again, delivered, lostJobs });
  });
}

async function writeResults(
  context: Context,
  client: Client,
  fileJobs: FileJobs,
  destination: Destination,
  { wait, again, delivered, lostJobs }: PollFileOptions & { readonly lostJobs: ReadonlySet<string> },
): Promise<FileResults> {
  const { file, cycle } = fileJobs;
  const jobs: (FileJob & JobResults)[] = [];
  for (const job of fileJobs.jobs.toSorted((a, b) => a.claim.part - b.claim.part)) {
    const options = { rows: job.rows, again, lateMs: wait ? LATE_MS : 0 };
    const get = (): Promise<JobResults> => resultsOfJob(context, client, cycle, job.claim, options);
    const joined = lostJobs.has(job.claim.job) ? delivered : undefined;
    jobs.push({
      ...job,
      ...(joined === undefined ? await outlast(context, wait, get) : { file: joined, compared: true }),
    });
  }
  const numbers = await numberRows(file, jobs, { cycle: cycle.name, joined: delivered });
  const force = destination.force || (await isOwnResults(context, cycle, destination.out));
  const results = await deliverResults(
    context,
    jobs.map((job) => job.file),
    { ...destination, force, again: withWait(again) },
    numbers,
  );
  // A job of another file counts as delivered only if this file has all of its rows.
  const whole = jobs.filter(({ claim, rows }) => rows.count >= claim.rows);
  await enterDelivery(
    context,
    cycle,
    whole.map(({ claim }) => claim.job),
  );
  const compared = jobs.every((job) => job.compared);
  if (!compared) noteUncompared(context, nextFileOf(results));
  return { ...results, fileJobs, jobs, compared };
}

/**
 * Numbers the rows of each job by their place in the file. Returns undefined if the jobs have consecutive slices of the file:
 * then their results are joined without numbers in memory, byte for byte. `joined` is an earlier file with results of several
 * jobs.
 * @throws SvcError `checksum_mismatch` if a token of a job in `joined` is in another job too: results name no merchant
 */
async function numberRows(
  file: Pick<RequestFile, 'check' | 'source'>,
  jobs: readonly (FileJob & Pick<JobResults, 'file'>)[],
  { cycle, joined }: { readonly cycle: string; readonly joined: string | undefined },
): Promise<readonly PartRows[] | undefined> {
  const isJoined = jobs.some((job) => job.file === joined);
  if (!isJoined && (await areSlices(file, jobs))) return undefined;
  const numberOf = await rowNumbersOf(file.source, file.check.rows);
  const partRows: PartRows[] = [];
  for (const { rows } of jobs) partRows.push(await PartRows.of(rows.source, rows.count, numberOf));
  for (const [index, job] of jobs.entries()) {
    const others = jobs.toSpliced(index, 1);
    if (job.file === joined && (await sharesToken(partRows[index], others))) throw sharedTokenError(job, cycle);
  }
  return partRows;
}

async function sharesToken(own: PartRows | undefined, others: readonly FileJob[]): Promise<boolean> {
  for (const { rows } of others)
    for await (const some of readRequest(rows.source.open()))
      if (some.some(({ token }) => own?.has(token) === true)) return true;
  return false;
}

function sharedTokenError({ claim: { job }, file }: FileJob & Pick<JobResults, 'file'>, cycle: string): SvcError {
  const name = basename(file);
  return new SvcError(
    'checksum_mismatch',
    `the service does not find job ${job}, and ${name} does not show which results are of that job: it has a token that another job has too`,
    {
      hint: `${name} was not changed. Run the same command on a machine that keeps the results of the job. The jobs of the cycle:`,
      next: ['au', 'status', cycle],
      facts: { job, file },
    },
  );
}

/** Tells whether the jobs have all rows of a file and no other rows, as consecutive slices. */
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

/** The members of a submission that do not depend on the service. */
type SubmittedFile = Omit<Submission, 'status' | 'results'>;

/** Returns a submitted file as printed. `errors` is the number of left-out rows whose result is an error, if known. */
export function rowOfFile({ file, jobs, isNamed, cycle }: FileJobs, errors?: number): SubmittedFile {
  const ownJobs = jobs.filter((job) => isOfFile(job, file));
  const ids = jobs.map(({ claim }) => claim.job);
  const sent = countRows(ownJobs);
  const times = jobs.flatMap(({ claim }) => parseTime(claim.created_at) ?? []);
  return {
    file: file.name,
    cycle: isNamed ? cycle.name : null,
    rows: file.check.rows,
    sent,
    left_out: file.check.rows - sent,
    left_out_errors: ownJobs.length === jobs.length ? 0 : (errors ?? null),
    in_cycle_since: times.length === 0 ? null : isoTime(Math.min(...times)),
    job: ids.length === 1 ? (ids[0] ?? null) : null,
    jobs: ids,
  };
}

/** Returns one status for all polled jobs of a file. */
export function statusOfJobs(
  jobs: readonly FileJob[],
  { cycle }: Pick<FileJobs, 'cycle'>,
  polled: PolledClaims,
): string {
  const statuses = jobs.map(
    ({ claim }) =>
      polled.statuses.get(claim.job) ?? (wereResultsRead(cycle.entries, claim.job) ? 'completed' : 'unknown'),
  );
  if (statuses.includes('failed')) return 'failed';
  if (statuses.includes('unknown')) return 'unknown';
  return statuses.every((status) => status === 'completed') ? 'completed' : 'pending';
}

/** Tells whether a job still waits for its file, which another machine sends. */
export function waitsForFile({ cycle }: Pick<FileJobs, 'cycle'>, { statuses }: PolledClaims): boolean {
  return [...statuses].some(([job, status]) => status === 'pending' && cycle.ledger.jobFiles(job).sent !== 'stored');
}
