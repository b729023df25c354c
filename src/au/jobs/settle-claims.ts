// Asks the service about claimed jobs, and ends the claims of jobs that failed or certainly never got their file.

import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { countText } from '../../cli/output/number.ts';
import { ReadOnlyPlace } from '../../client/store/store-errors.ts';
import { findJob } from '../job/job.ts';
import { endedClaims, wereResultsRead, standingClaims, hasStandingClaim, type SettledClaim } from '../ledger/claims.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { proofOfAbsence, provableFrom, provableUntil } from '../ledger/proof-of-absence.ts';
import type { FileRows } from '../ledger/request-rows.ts';

export interface SettledClaims {
  /** Claims that still stand. */
  readonly taken: readonly SettledClaim[];
  /** Claims that this call ended because their jobs failed. Their rows are free. */
  readonly failed: readonly SettledClaim[];
}

export interface SettleOptions {
  /** Jobs of the caller. Their claims are skipped. */
  readonly ownJobs?: ReadonlySet<string> | undefined;
  /** Jobs that certainly have no file, because this machine alone has the ledger and sent nothing to them. */
  readonly jobsWithoutFile?: ReadonlySet<string> | undefined;
  /** Tells whether the store confirmed the file of a job to this machine. Such a claim does not end for a missing job. */
  readonly isStored?: ((job: string) => boolean) | undefined;
  /** Called with a warning where rows were paid for twice. */
  readonly warn?: ((text: string) => void) | undefined;
  /** Creates a job: a list that shows it is up to date. Returns undefined if the command may not create one. */
  readonly createJob?: (() => Promise<AccountUpdaterJob | undefined>) | undefined;
}

/**
 * Reads the job of each standing claim that shares rows with a file, and ends the claim if the job failed or certainly has no
 * file. Without a client, no job is read and every claim stands.
 */
export async function settleClaims(
  client: Client | undefined,
  cycle: LedgerCycle,
  rows: FileRows,
  { ownJobs, ...options }: SettleOptions = {},
): Promise<SettledClaims> {
  const taken: SettledClaim[] = [];
  const failed: SettledClaim[] = [];
  const countRows = async (claim: ClaimEntry): Promise<number> =>
    ownJobs?.has(claim.job) ? 0 : rows.countShared(await cycle.rowSetOf(claim));
  if (client) await claimFoundJobs(client, cycle, options.warn, async (claim) => (await countRows(claim)) > 0);
  const entries = [...(await cycle.read())];
  for (const claim of standingClaims(entries)) {
    const shared = await countRows(claim);
    if (shared === 0) continue;
    const { end, ...read } = await settleClaim(
      client,
      cycle,
      { claim, wasRead: wereResultsRead(entries, claim.job) },
      options,
    );
    const settled = { ...read, rows: shared };
    if (end === undefined) taken.push(settled);
    else if (end === 'failed') failed.push(settled);
  }
  return { taken, failed };
}

/**
 * Lets ended claims stand again whose jobs have their files after all, so that their rows are paid for: the operator freed the rows
 * before the service found the job, or somebody read its results. A claim of unknown rows would keep every file from being sent, and
 * the operator may free it although its job is completed, so it does not count.
 */
export async function claimFoundJobs(
  client: Client,
  cycle: LedgerCycle,
  warn: SettleOptions['warn'],
  isWanted: (claim: ClaimEntry) => Promise<boolean> = async () => true,
): Promise<void> {
  const entries = [...(await cycle.read())];
  for (const { claim, end } of endedClaims(entries)) {
    const { job } = claim;
    const wasRead = wereResultsRead(entries, job);
    if (claim.row_set === null || !(wasRead || end.why === 'operator') || !(await isWanted(claim))) continue;
    const status = wasRead ? 'completed' : (await findJob(client, job))?.status;
    if (status !== 'processing' && status !== 'completed') continue;
    const twice = await countTaken(cycle, claim);
    try {
      await cycle.claimAgain(claim);
      if (twice > 0)
        warn?.(
          `${countText(twice, 'row')} of ${cycle.name} ${twice === 1 ? 'was' : 'were'} paid for twice: job ${job}, which was abandoned, has its file, and other jobs have ${twice === 1 ? 'it' : 'them'} too`,
        );
    } catch (error) {
      // A machine that may only read the ledger sends nothing.
      if (!(error instanceof ReadOnlyPlace)) throw error;
    }
  }
}

/** Counts the rows of an ended claim that standing claims have. */
async function countTaken(cycle: LedgerCycle, claim: ClaimEntry): Promise<number> {
  const others = standingClaims(await cycle.read()).filter(({ job }) => job !== claim.job);
  const sets = await Promise.all(others.map((other) => cycle.rowSetOf(other)));
  const rows = await cycle.rowSetOf(claim);
  return rows === undefined ? 0 : rows.size - rows.without(sets.filter((set) => set !== undefined)).size;
}

/**
 * Reads the job of one claim, and ends the claim if the job failed or certainly has no file. Returns the claim with the job's
 * status, and in `end` why the claim ended; undefined for a claim that stands.
 */
export async function settleClaim(
  client: Client | undefined,
  cycle: LedgerCycle,
  { claim, wasRead }: Pick<SettledClaim, 'claim' | 'wasRead'>,
  options: SettleOptions,
): Promise<Omit<SettledClaim, 'rows'> & { readonly end: 'failed' | 'gone' | undefined }> {
  const { job } = claim;
  const status = client === undefined ? null : (await findJob(client, job))?.status;
  const read = { claim, status, wasRead };
  const proof = client && (await reasonToEnd(client, read, options));
  if (proof === undefined) return { ...read, end: undefined };
  await cycle.endClaim({ kind: 'release', job, ...proof });
  // If somebody read the job's results, even in this moment, the claim stands.
  const now = await cycle.read();
  return { ...read, wasRead: wereResultsRead(now, job), end: hasStandingClaim(now, job) ? undefined : proof.why };
}

/** Returns why the claim of a job ends, with the proof for the ledger; undefined if the claim stands. */
async function reasonToEnd(
  client: Client,
  { claim, status, wasRead }: Omit<SettledClaim, 'rows'>,
  { jobsWithoutFile, createJob, isStored }: SettleOptions,
): Promise<{ readonly why: 'failed' | 'gone'; readonly proof: string } | undefined> {
  const { job } = claim;
  if (status === 'failed') return { why: 'failed', proof: `the service said that job ${job} failed` };
  if (status !== undefined || wasRead) return undefined;
  if (jobsWithoutFile?.has(job))
    return { why: 'gone', proof: `the record of this machine: job ${job} never had its file` };
  if (isStored?.(job)) return undefined;
  const from = provableFrom(claim);
  // The proof creates another job, so it is tried only while it can succeed.
  if (from === undefined || client.now() < from || client.now() > provableUntil(claim)) return undefined;
  const created = await createJob?.();
  const proof = created && (await proofOfAbsence(client, claim, created));
  return proof === undefined ? undefined : { why: 'gone', proof };
}
