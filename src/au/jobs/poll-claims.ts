// The one loop that waits for the jobs of a cycle, and decides why results are missing.

import { type JobOptions, findJob, findJobs, pollReporter } from '../job/job.ts';
import { withInterruption } from '../job/resumable.ts';
import { SpareJob } from '../job/spare-job.ts';
import { worstOf } from '../job/verdict.ts';
import { Absences, MAX_WAIT_MS } from '../job/wait.ts';
import { progressText } from './claim-texts.ts';
import type { NamedCycle } from './named-cycle.ts';
import { settleClaim } from './settle-claims.ts';
import { deliveryOf, wereResultsRead } from '../ledger/claims.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { type Doubt, doubtError, jobText } from '../ledger/doubt.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { provableUntil } from '../ledger/proof-of-absence.ts';
import { keptResults } from '../results/reading.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import { ReadOnlyPlace } from '../../client/store/store-errors.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

type Jobs = ReadonlyMap<string, AccountUpdaterJob>;

/** A cycle with its standing claims. */
export interface ClaimedCycle extends NamedCycle {
  readonly claims: readonly ClaimEntry[];
}

interface PollOptions extends Pick<JobOptions, 'onEvent'> {
  /** Whether to poll until no job is under way. */
  readonly wait: boolean;
  /** The command that continues the wait. */
  readonly again: readonly string[];
  /** Returns the command that sends the rows of a failed job again. */
  readonly resubmit: (claim: ClaimEntry) => Promise<readonly string[]>;
  /** Jobs that the list showed as completed and a later read did not find. They are read one by one. */
  readonly contested: ReadonlySet<string>;
  /** How progress lines name the jobs. Default: by their cycle. */
  readonly label?: string | undefined;
}

/** The state of the jobs of a cycle, as the service reports it. */
export interface PolledClaims {
  /** The number of jobs by status, such as "1 processing, 2 completed". */
  readonly progress: string;
  /** The status of each job that the service finds. */
  readonly statuses: ReadonlyMap<string, string>;
  /** Why the results of some jobs are missing; undefined if all jobs are completed. */
  readonly reason: SvcError | undefined;
  /** Claims of forgotten jobs whose results were delivered before, but are not kept on this machine. */
  readonly lost: readonly ClaimEntry[];
}

/**
 * Polls the jobs of a cycle's claims, and ends the claims of jobs that failed or certainly never got their file. A job that
 * the service has forgotten counts as completed if its results were delivered before.
 */
export async function pollClaims(
  client: Client,
  cycle: ClaimedCycle,
  { wait, onEvent, again, resubmit, contested, label = `cycle ${cycle.name}` }: PollOptions,
): Promise<PolledClaims> {
  const { claims } = cycle;
  const absences = new Absences(client.clock);
  /** The jobs whose results are here or were delivered, so that they need no answer of the service. */
  const received = new Set<string>();
  const poll = async (): Promise<Jobs> => {
    const jobs = await readJobs(client, claims, contested);
    for (const { job: id } of claims) {
      const isMissing = !jobs.has(id);
      absences.note(id, isMissing);
      if (!isMissing || received.has(id)) continue;
      if (deliveryOf(cycle.entries, id) !== undefined || (await areResultsKept(cycle, id))) received.add(id);
      else if (wait) onEvent?.({ kind: 'missing', job: id });
    }
    return jobs;
  };
  const isOver = (jobs: Jobs): boolean =>
    claims.every(({ job }) => {
      const status = jobs.get(job)?.status;
      if (status !== undefined) return status === 'completed' || status === 'failed';
      return received.has(job) || absences.isLong(job);
    });
  const { seen, outage, commandTimeout } = await pollUntil(client, {
    poll,
    isDone: (jobs) => !wait || isOver(jobs),
    limitMs: () => (wait ? MAX_WAIT_MS : 0),
    onPoll: pollReporter<Jobs>(client, label, onEvent, (jobs) => ({
      status: progressOf(claims, jobs),
      since: claims[0]?.created_at,
    })),
  });
  const reason = await worstReason(client, cycle, { seen, again, resubmit, contested });
  const interruption = commandTimeout ?? outage;
  const isInterrupted = interruption !== undefined && reason?.code === 'pending';
  if (reason === undefined && wait) onEvent?.({ kind: 'completed', job: label });
  const statuses = new Map([...seen].map(([id, { status }]) => [id, status]));
  return {
    progress: progressOf(claims, seen),
    statuses,
    reason: isInterrupted ? withInterruption(interruption, reason) : reason,
    lost: await lostClaims(client, cycle, seen),
  };
}

async function readJobs(
  client: Client,
  claims: readonly ClaimEntry[],
  contested: PollOptions['contested'],
): Promise<Jobs> {
  const uncontested = claims.map(({ job }) => job).filter((job) => !contested.has(job));
  const jobs = await findJobs(client, new Set(uncontested));
  for (const id of contested) {
    const job = await findJob(client, id);
    if (job !== undefined) jobs.set(id, job);
  }
  return jobs;
}

/** Returns the claims of jobs that the service has forgotten, and whose delivered results this machine does not keep. */
async function lostClaims(client: Client, cycle: ClaimedCycle, jobs: Jobs): Promise<ClaimEntry[]> {
  const lost: ClaimEntry[] = [];
  for (const claim of cycle.claims) {
    // A lagging list may not show a younger job yet.
    const isForgotten = !jobs.has(claim.job) && client.now() > provableUntil(claim);
    const wasDelivered = isForgotten && deliveryOf(cycle.entries, claim.job) !== undefined;
    if (wasDelivered && !(await areResultsKept(cycle, claim.job))) lost.push(claim);
  }
  return lost;
}

/** Tells whether this machine keeps the results of a job, which prove that the job was completed. */
async function areResultsKept({ entries, ledger, tenant }: NamedCycle, job: string): Promise<boolean> {
  return wereResultsRead(entries, job) && (await keptResults(ledger, tenant, job)) !== undefined;
}

function progressOf(claims: readonly ClaimEntry[], jobs: Jobs): string {
  return progressText(claims.map(({ job }) => jobs.get(job)?.status ?? 'not found'));
}

/** Returns the worst reason why results are missing. All doubtful jobs together are one reason, which names each job. */
async function worstReason(
  client: Client,
  cycle: ClaimedCycle,
  how: { readonly seen: Jobs } & Pick<PollOptions, 'again' | 'resubmit' | 'contested'>,
): Promise<SvcError | undefined> {
  const reasons: SvcError[] = [];
  const doubts: Doubt[] = [];
  // A list that shows this new job is up to date, which proves the absence of all other missing jobs.
  const spare = new SpareJob(client);
  for (const claim of cycle.claims) {
    const why = await reasonWithoutResults(client, cycle, claim, { ...how, spare });
    if (typeof why === 'string') doubts.push({ claim, why });
    else if (why !== undefined) reasons.push(why);
  }
  return worstOf([...reasons, doubtError(doubts, { cycle: cycle.name, now: client.now(), again: how.again })]);
}

/** Returns why a job has no results, or what is in doubt about the job; undefined if it is completed. */
async function reasonWithoutResults(
  client: Client,
  named: NamedCycle,
  claim: ClaimEntry,
  {
    seen,
    spare,
    again,
    resubmit,
    contested,
  }: { readonly seen: Jobs; readonly spare: SpareJob } & Pick<PollOptions, 'again' | 'resubmit' | 'contested'>,
): Promise<SvcError | Doubt['why'] | undefined> {
  const { name, cycle, ledger, entries } = named;
  const { job } = claim;
  const status = seen.get(job)?.status;
  const facts = { job, cycle: name, rows: claim.rows };
  const jobName = `${jobText(claim, name)},`;
  const wasDelivered = deliveryOf(entries, job) !== undefined;
  // The download of the results did not find the job either.
  if (status === undefined && contested.has(job)) return wasDelivered ? 'delivered' : 'shown';
  if (status === 'completed' || (status === undefined && wasDelivered)) return undefined;
  if (status === 'pending' && ledger.jobFiles(job).sent === 'all') return 'sent';
  if (status !== undefined && status !== 'failed')
    return new SvcError('pending', `${jobName} is ${status}`, { next: again, facts: { ...facts, job_status: status } });
  // Even if the service has forgotten the job since, or reports it as failed.
  if (await areResultsKept(named, job)) return undefined;
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
