import { isSvcError, SvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { UnprovenDownload } from '../../client/transfer/download.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { showJobs } from '../job/show-progress.ts';
import { after, holdJob } from '../job/verdict.ts';
import { doubtError } from '../ledger/doubt.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { downloadResults, flawsOf, NotCompleted, type ResultsChecks } from './download.ts';
import type { Rereadable } from './reconcile.ts';
import { PartRows } from './rows-of-request.ts';

/** Whose results a command gets. */
export interface OfCycle {
  readonly name: string;
  readonly tenant: string;
  readonly ledger: CommandLedger;
}

/** Some of the rows of a job. */
export interface RowsOfJob {
  readonly source: Rereadable;
  readonly count: number;
}

/** The results of a job on this machine. */
export interface JobResults {
  readonly file: string;
  /** Whether each result was matched with a row that was sent. */
  readonly compared: boolean;
}

/** The error for a job that a response showed as completed and a later read does not, so that its results must wait. */
export class ContestedJob extends SvcError {
  readonly job: string;

  constructor(job: string, error: SvcError) {
    super(error.code, error.message, error);
    this.job = job;
  }
}

/**
 * Gets the results of a completed job: those that this machine keeps, or else they are downloaded, proven, entered into the
 * ledger and kept. `rows` are those of the job that the caller has. `again` is the command that goes on later. `lateMs` is how
 * long to wait for results that the store does not have yet.
 * @throws ContestedJob if the service does not show the job as completed now
 */
export async function resultsOfJob(
  context: Context,
  client: Client,
  { name, tenant, ledger }: OfCycle,
  claim: ClaimEntry,
  {
    rows,
    again,
    lateMs,
  }: { readonly rows?: RowsOfJob | undefined; readonly again: readonly string[]; readonly lateMs: number },
): Promise<JobResults> {
  const { job } = claim;
  const files = ledger.jobFiles(job);
  const checks = await checksOf(ledger, claim, rows);
  const compared = checks.request !== undefined;
  const kept = await ledger.keptResults(tenant, job);
  if (kept !== undefined && files.accepted === (await hashIfReadable(kept))) return { file: kept, compared: false };
  if (kept !== undefined && (await flawsOf(kept, 'length', checks)).length === 0) return { file: kept, compared };
  const downloading = () =>
    downloadResults(client, job, files.results, {
      ...checks,
      overwrite: true,
      onEvent: showJobs(context),
      lateMs,
      compareRead: (read) => ledger.compareRead(tenant, job, read),
      onAccepted: (accepted) => ledger.enterWanted(tenant, job, accepted),
    });
  try {
    await holdJob(context, files, downloading);
    files.removeRefused();
    return { file: files.results, compared };
  } catch (error) {
    // Another process of this machine gets them now.
    if (isHeld(error)) throw new ContestedJob(job, error.with({ next: again }));
    if (error instanceof NotCompleted) throw new ContestedJob(job, error.with({ next: again }));
    if (error instanceof UnprovenDownload) throw refusedResults(job, error, again);
    if (!isSvcError(error, 'job_expired')) throw error;
    const doubt = doubtError([{ claim, why: 'shown' }], { cycle: name, now: client.now(), again });
    throw new ContestedJob(job, doubt);
  }
}

/** Returns what the results of a job are checked against: the rows that this machine sent, or else those of the caller. */
export async function checksOf(
  ledger: CommandLedger,
  claim: Pick<ClaimEntry, 'job' | 'rows' | 'sha256'>,
  rows?: RowsOfJob,
): Promise<ResultsChecks> {
  const { request: sent } = ledger.jobFiles(claim.job);
  if ((await hashIfReadable(sent)) === claim.sha256)
    return { rowsSent: claim.rows, request: await fileSource(sent), requested: undefined };
  // A job of another file may also have results for other rows.
  const isForeign = rows !== undefined && rows.count < claim.rows;
  return {
    rowsSent: claim.rows,
    request: rows?.source,
    requested: isForeign ? await PartRows.of([rows.source], rows.count) : undefined,
  };
}

function refusedResults(job: string, error: UnprovenDownload, again: readonly string[]): SvcError {
  const { kept } = error;
  return error.with({
    message: `the results of job ${job} were refused: ${error.message}`,
    hint: kept
      ? `The same bytes came each time and are kept in ${kept.file}. If they are right, accept them:`
      : 'Try again later: that costs nothing. If the results are still refused, contact support with the job id.',
    next: kept ? ['au', 'download', job, '--accept-unproven'] : again,
    retryable: true,
    facts: { job },
  });
}

/** How long to wait before a job is read again that the service contradicts itself about. */
const CONTESTED_MS = 5_000;

/** Waits a moment after such a contradiction. @throws SvcError the contradiction, if the time is up */
export async function pauseAfter({ clock, signal }: Client, error: ContestedJob): Promise<void> {
  try {
    await clock.sleep(CONTESTED_MS, signal);
  } catch (reason) {
    throw isSvcError(reason, 'timeout') ? after(reason, error) : reason;
  }
}
