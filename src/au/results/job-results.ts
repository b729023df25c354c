// Gets the results of one job: the kept file, or a proven download whose new tokens the ledger gets first.

import { withInterruption } from '../job/resumable.ts';
import { showJobs } from '../job/show-progress.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { doubtError } from '../ledger/doubt.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { provableUntil } from '../ledger/proof-of-absence.ts';
import { createSpool } from '../request/spool.ts';
import {
  NoAddress,
  NotCompleted,
  type ResultsChecks,
  type ResultsOptions,
  downloadResults,
  findFlaws,
} from './download.ts';
import { EnteredResults, keptResults } from './reading.ts';
import type { Rereadable } from './reconcile.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { type DownloadResult, UnprovenDownload } from '../../client/transfer/download.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { AddressRefused } from '../../client/transfer/store-errors.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

/** The cycle and ledger of a job. */
export interface CycleOfJob {
  readonly name: string;
  readonly tenant: string;
  readonly ledger: CommandLedger;
}

/** Some or all rows of a job. */
export interface RowsOfJob {
  readonly source: Rereadable;
  readonly count: number;
}

/** The results of a job on this machine. */
export interface JobResults {
  readonly file: string;
  /** Whether each result was matched with a row of the job. */
  readonly compared: boolean;
}

/** The error for a job that the service showed as completed first and not later, so that its results must wait. */
export class ContestedJob extends SvcError {
  readonly job: string;

  constructor(job: string, error: SvcError) {
    super(error.code, error.message, error);
    this.job = job;
  }
}

/**
 * Returns the results of a completed job: the kept file of this machine if it is sound, or else a new download. `rows` are the
 * job's rows that the caller has. `again` is the command that continues later. `lateMs` is how long to wait for late results.
 * @throws ContestedJob if the service no longer shows the job as completed, or another process gets its results
 */
export async function resultsOfJob(
  context: Context,
  client: Client,
  { name, tenant, ledger }: CycleOfJob,
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
  const compared = rows !== undefined || checks.request !== undefined;
  const kept = await keptResults(ledger, tenant, job);
  const { accepted } = files;
  if (kept !== undefined && accepted !== undefined && accepted === (await hashIfReadable(kept)))
    return { file: kept, compared: false };
  if (kept !== undefined && (await findFlaws(kept, 'length', checks)).length === 0) return { file: kept, compared };
  const options = { ...checks, overwrite: true, onEvent: showJobs(context), lateMs };
  const downloading = () => {
    files.makeRoom();
    return readResultsOf(context, client, { ledger, tenant, job }, files.results, options);
  };
  try {
    await files.hold(context.system, downloading);
    files.removeRefused();
    return { file: files.results, compared };
  } catch (error) {
    // Another process of this machine downloads the results now.
    if (isHeld(error)) throw new ContestedJob(job, error.with({ next: again }));
    if (error instanceof NotCompleted) throw new ContestedJob(job, error.with({ next: again }));
    if (error instanceof UnprovenDownload) throw refusedResults(job, error, again);
    if (!isSvcError(error, 'job_expired')) throw error;
    const doubt = doubtError([{ claim, why: 'shown' }], { cycle: name, now: client.now(), again });
    throw new ContestedJob(job, doubt);
  }
}

/** A job and its ledger. Without `tenant`, the tenant of the job counts. */
interface JobInLedger {
  readonly ledger: CommandLedger;
  readonly tenant: string | undefined;
  readonly job: string;
}

interface ReadOptions extends Omit<ResultsOptions, 'compareRead' | 'onAccepted'> {
  /** Whether only the new tokens are needed, and nobody gets the results. */
  readonly forTokens?: boolean;
}

/**
 * Downloads the results of a job, compares them with earlier results, and enters them in the ledger before the file gets its
 * name. Every command that reads results does it here. Also returns the tenant of the ledger.
 * @throws SvcError as `downloadResults`, `config` if the results have unknown tokens and this machine may only read the ledger
 */
export async function readResultsOf(
  context: Context,
  client: Client,
  { ledger, tenant, job }: JobInLedger,
  target: string,
  { forTokens = false, ...options }: ReadOptions,
): Promise<DownloadResult & Pick<JobInLedger, 'tenant'>> {
  const entered = new EnteredResults(context, ledger, job);
  let ledgerTenant = tenant;
  const tenantOf = ({ tenant_id: own }: AccountUpdaterJob): string | undefined => (ledgerTenant ??= own ?? undefined);
  const downloaded = await downloadResults(client, job, target, {
    ...options,
    compareRead: (file, readJob) => entered.compare(tenantOf(readJob), file),
    onAccepted: (file, readJob) => entered.enter(tenantOf(readJob), file, { isDelivered: !forTokens }),
  });
  return { ...downloaded, tenant: ledgerTenant };
}

/** Failures that concern the results of one job, not the connection to the service. */
const FAILURES_OF_ONE_JOB = [
  'bad_response',
  'checksum_mismatch',
  'forbidden',
  'job_expired',
  'job_failed',
  'not_found',
  'pending',
  'rejected',
  'truncated',
] as const;

/** Reads the results of a completed job to enter their new tokens in the ledger. */
export async function readNewTokens(
  context: Context,
  client: Client,
  { ledger, tenant }: Pick<CycleOfJob, 'ledger' | 'tenant'>,
  claim: ClaimEntry,
): Promise<void> {
  const { job, rows } = claim;
  const { notices, system } = context;
  notices.note(`reading the results of job ${job}: the ledger does not know yet which tokens they made`);
  const spooled = await createSpool(system);
  try {
    await readResultsOf(context, client, { ledger, tenant, job }, spooled.path, { rowsSent: rows, forTokens: true });
  } catch (error) {
    if (!isSvcError(error, ...FAILURES_OF_ONE_JOB)) throw error;
    if (!isRetryUseless(error, claim, client.now())) throw unreadError(error, job);
    notices.warn(
      `the tokens that job ${job} made are not known, and would be billed if the file has them: ${error.message}`,
    );
  } finally {
    await spooled.remove();
  }
}

/**
 * Tells whether the results can never be read: each attempt got the same unusable bytes, or the results are gone and the job
 * is older than 7 days. Such results get a warning instead of an error, which would stop every later submission of the cycle.
 */
function isRetryUseless(error: SvcError, claim: ClaimEntry, now: number): boolean {
  if (error instanceof UnprovenDownload) return error.kept !== undefined;
  // A bucket that may not be listed responds to a missing object with a refusal.
  const areGone =
    error instanceof NoAddress || error instanceof AddressRefused || isSvcError(error, 'not_found', 'job_expired');
  return areGone && now > provableUntil(claim);
}

/** Returns the error for results that could not be read, although rows with their new tokens must not be billed in this cycle. */
function unreadError(error: SvcError, job: string): SvcError {
  return error.with({
    code: 'outcome_unknown',
    message: `the results of job ${job} could not be read, and rows with tokens that they made would be billed again: ${error.message}; nothing was sent`,
    hint: 'Run the same command again later. If it stays so, get these results once, on any machine that shares the ledger:',
    next: ['au', 'download', job],
    retryable: true,
    facts: { job },
  });
}

/** Returns the rows to check a job's results against: those that this machine sent, or else the caller's. */
export async function checksOf(
  ledger: CommandLedger,
  claim: Pick<ClaimEntry, 'job' | 'rows' | 'sha256'>,
  rows?: RowsOfJob,
): Promise<ResultsChecks> {
  const { request: sent } = ledger.jobFiles(claim.job);
  if ((await hashIfReadable(sent)) === claim.sha256) return { rowsSent: claim.rows, request: await fileSource(sent) };
  // If the caller has only some of the job's rows, the results of the others cannot be compared: they are only counted.
  const hasAll = rows !== undefined && rows.count >= claim.rows;
  return { rowsSent: claim.rows, request: hasAll ? rows.source : undefined };
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

/** The pause after which a contested job is read again. */
const CONTESTED_MS = 5_000;

/**
 * Runs work that needs results. With `wait`, a contested job makes it run again after a pause, with the job in `contested`.
 * @throws ContestedJob without `wait`, SvcError after the time limit
 */
export async function withContested<T>(
  { clock, signal }: Client,
  wait: boolean,
  work: (contested: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  const contested = new Set<string>();
  for (;;) {
    try {
      return await work(contested);
    } catch (error) {
      if (!(error instanceof ContestedJob) || !wait) throw error;
      contested.add(error.job);
      try {
        await clock.sleep(CONTESTED_MS, signal);
      } catch (reason) {
        throw isSvcError(reason, 'timeout') ? withInterruption(reason, error) : reason;
      }
    }
  }
}
