// Decides why results of the jobs of a cycle are missing.

import { strangeEnd } from '../job/job.ts';
import { SpareJob } from '../job/spare-job.ts';
import { worstOf } from '../job/verdict.ts';
import type { NamedCycle } from './named-cycle.ts';
import { settleClaim } from './settle-claims.ts';
import { deliveryOf, wereResultsRead } from '../ledger/claims.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { type Doubt, doubtError, jobText } from '../ledger/doubt.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { keptResults } from '../results/reading.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { ReadOnlyPlace } from '../../client/store/store-errors.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

/** Jobs that the service found, by id. */
export type Jobs = ReadonlyMap<string, AccountUpdaterJob>;

/** A cycle with its standing claims. */
export interface ClaimedCycle extends NamedCycle {
  readonly claims: readonly ClaimEntry[];
}

export interface MissingOptions {
  /** The command that continues the wait. */
  readonly again: readonly string[];
  /** Returns the command that sends the rows of a failed job again. */
  readonly resubmit: (claim: ClaimEntry) => Promise<readonly string[]>;
  /** Jobs that the list showed as completed and a later read did not find. */
  readonly contested: ReadonlySet<string>;
}

/** Tells whether this machine keeps the results of a job, which prove that the job was completed. */
export async function areResultsKept({ entries, ledger, tenant }: NamedCycle, job: string): Promise<boolean> {
  return wereResultsRead(entries, job) && (await keptResults(ledger, tenant, job)) !== undefined;
}

/** Returns how a job ended that has errors and a status that svc does not know. */
function endOf(job: AccountUpdaterJob | undefined): string | undefined {
  return job && strangeEnd(job);
}

/** Returns the worst reason why results are missing. All doubtful jobs together are one reason. */
export async function worstReason(
  client: Client,
  cycle: ClaimedCycle,
  how: MissingOptions & { readonly seen: Jobs },
): Promise<SvcError | undefined> {
  const reasons: SvcError[] = [];
  const doubts: Doubt[] = [];
  // A list that shows this new job is up to date, which proves the absence of all other missing jobs.
  const spare = new SpareJob(client);
  for (const claim of cycle.claims) {
    const why = await reasonWithoutResults(client, cycle, claim, { ...how, spare });
    if (typeof why === 'string') doubts.push({ claim, why, end: endOf(how.seen.get(claim.job)) });
    else if (why !== undefined) reasons.push(why);
  }
  return worstOf([...reasons, doubtError(doubts, { cycle: cycle.name, now: client.now(), again: how.again })]);
}

/** Returns why a job has no results, or what is in doubt about the job; undefined if it is completed. */
async function reasonWithoutResults(
  client: Client,
  named: NamedCycle,
  claim: ClaimEntry,
  how: MissingOptions & { readonly seen: Jobs; readonly spare: SpareJob },
): Promise<SvcError | Doubt['why'] | undefined> {
  const { seen, spare, again, resubmit, contested } = how;
  const { name, cycle, ledger, entries } = named;
  const { job } = claim;
  const found = seen.get(job);
  const status = found?.status;
  const facts = { job, cycle: name, rows: claim.rows };
  const jobName = `${jobText(claim, name)},`;
  const wasDelivered = deliveryOf(entries, job) !== undefined;
  // The download of the results did not find the job either.
  if (status === undefined && contested.has(job)) return wasDelivered ? 'delivered' : 'shown';
  if (status === 'completed' || (status === undefined && wasDelivered)) return undefined;
  if (status === 'pending' && ledger.jobFiles(job).sent === 'all') return 'sent';
  const isStrange = endOf(found) !== undefined;
  if (status !== undefined && status !== 'failed' && !isStrange)
    return new SvcError('pending', `${jobName} is ${status}`, { next: again, facts: { ...facts, job_status: status } });
  // Even if the service has forgotten the job since, or reports it as failed.
  if (await areResultsKept(named, job)) return undefined;
  if (isStrange) return 'ended';
  if (status === undefined && wereResultsRead(entries, job)) return 'read';
  const end = await endClaimIfOver(client, cycle, { claim, status, spare, stored: ledger.isStored });
  if (end !== undefined)
    return new SvcError('job_failed', `${jobName} ${end === 'failed' ? 'failed' : 'was deleted without its file'}`, {
      hint: 'Nothing was billed for that job. Submit its file again, which sends the rows in another one:',
      next: await resubmit(claim),
      facts,
    });
  return ledger.isStored(job) ? 'confirmed' : 'missing';
}

interface ClaimToEnd {
  readonly claim: ClaimEntry;
  readonly status: string | undefined;
  readonly spare: SpareJob;
  readonly stored: (job: string) => boolean;
}

/** Ends the claim of a job that failed or certainly never got its file. Returns undefined if neither is known. */
async function endClaimIfOver(
  client: Client,
  cycle: LedgerCycle,
  { claim, status, spare, stored }: ClaimToEnd,
): Promise<'failed' | 'gone' | undefined> {
  try {
    return (
      await settleClaim(client, cycle, { claim, wasRead: false }, { createJob: () => spare.get(), isStored: stored })
    ).end;
  } catch (error) {
    // Without time, or with a ledger that it may only read, the command leaves the claim and still reports the status.
    if (!isSvcError(error, 'timeout') && !(error instanceof ReadOnlyPlace)) throw error;
    return status === 'failed' ? 'failed' : undefined;
  }
}
