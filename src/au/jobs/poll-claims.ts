import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import { ReadOnlyPlace } from '../../client/store/store.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { deliveryOf, isDone } from '../ledger/claims.ts';
import { type Doubt, doubtError, jobText } from '../ledger/doubt.ts';
import { submitWords } from '../ledger/cycle-names.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import type { NamedCycle } from './named-cycle.ts';
import { provableUntil } from '../ledger/proof-of-absence.ts';
import { settleClaim } from './settle-claims.ts';
import { keptResults } from '../results/reading.ts';
import { findJob, findJobs, type JobOptions, pollReporter } from '../job/job.ts';
import { after, worstOf } from '../job/verdict.ts';
import { SpareJob } from '../job/spare-job.ts';
import { Absences, LONGEST_WAIT_MS } from '../job/wait.ts';

type Jobs = ReadonlyMap<string, AccountUpdaterJob>;

/** A cycle with the claims that stand in it. */
export interface ClaimedCycle extends NamedCycle {
  readonly claims: readonly ClaimEntry[];
}

interface PollClaims extends Pick<JobOptions, 'onEvent'> {
  /** Whether to poll until no job is under way. */
  readonly wait: boolean;
  /** The command that continues the wait. */
  readonly again: readonly string[];
  /** The command that sends the rows of a failed job again. Default: one with a file that the operator has to name. */
  readonly resubmit?: readonly string[] | undefined;
  /** Jobs that the list showed as completed in this command and a later read did not. They are read one by one. */
  readonly contested: ReadonlySet<string>;
  /** How progress lines name the jobs. Default: by their cycle. */
  readonly label?: string | undefined;
}

/** The state of the jobs of a cycle, as the service reports it. */
export interface PolledClaims {
  /** The number of jobs by status, such as "1 processing, 2 completed". */
  readonly progress: string;
  /** The status of each job. A job that the service does not find is left out. */
  readonly statuses: ReadonlyMap<string, string>;
  /** Why there are no results of all jobs yet; undefined if all jobs are completed. */
  readonly reason: SvcError | undefined;
  /** Claims of jobs that the service has forgotten after their results were delivered, and of which this machine keeps none. */
  readonly lost: readonly ClaimEntry[];
}

/**
 * Polls the jobs of a cycle's claims, and ends the claims of those that failed or certainly never got their file. A job
 * whose results were delivered before may be forgotten by the service.
 */
export async function pollClaims(
  client: Client,
  cycle: ClaimedCycle,
  { wait, onEvent, again, resubmit, contested, label = `cycle ${cycle.name}` }: PollClaims,
): Promise<PolledClaims> {
  const { claims } = cycle;
  const ids = claims.map(({ job }) => job);
  const absences = new Absences(client.clock);
  const poll = async (): Promise<Jobs> => {
    const jobs = await findJobs(client, new Set(ids.filter((id) => !contested.has(id))));
    for (const id of contested) {
      const job = await findJob(client, id);
      if (job !== undefined) jobs.set(id, job);
    }
    for (const id of ids) {
      const isMissing = !jobs.has(id);
      absences.note(id, isMissing);
      if (isMissing && wait && deliveryOf(cycle.entries, id) === undefined) onEvent?.({ kind: 'missing', job: id });
    }
    return jobs;
  };
  const isOver = (jobs: Jobs): boolean =>
    claims.every(({ job }) => {
      const status = jobs.get(job)?.status;
      if (status !== undefined) return status === 'completed' || status === 'failed';
      return deliveryOf(cycle.entries, job) !== undefined || absences.isLong(job);
    });
  const { seen, outage, commandTimeout } = await pollUntil(client, {
    poll,
    isDone: (jobs) => !wait || isOver(jobs),
    limitMs: () => (wait ? LONGEST_WAIT_MS : 0),
    onPoll: pollReporter<Jobs>(client, label, onEvent, (jobs) => ({
      status: progressOf(claims, jobs),
      since: claims[0]?.created_at,
    })),
  });
  const reason = await worstReason(client, cycle, { seen, again, resubmit, contested });
  const because = commandTimeout ?? outage;
  const ofJobs = reason && because && reason.code === 'pending' ? after(because, reason) : reason;
  const lost: ClaimEntry[] = [];
  for (const claim of claims) {
    // A job that is younger may be missing in a list that lags.
    const isForgotten = !seen.has(claim.job) && client.now() > provableUntil(claim);
    const wasDelivered = isForgotten && deliveryOf(cycle.entries, claim.job) !== undefined;
    if (wasDelivered && (await keptResults(cycle.ledger, cycle.tenant, claim.job)) === undefined) lost.push(claim);
  }
  if (reason === undefined && wait) onEvent?.({ kind: 'completed', job: label });
  const statuses = new Map([...seen].map(([id, { status }]) => [id, status]));
  return { progress: progressOf(claims, seen), statuses, reason: ofJobs, lost };
}

function progressOf(claims: readonly ClaimEntry[], jobs: Jobs): string {
  const counts = new Map<string, number>();
  for (const { job } of claims) {
    const status = jobs.get(job)?.status ?? 'not found';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const [only] = counts.keys();
  if (claims.length === 1 && only !== undefined) return only;
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
}

/** Returns the worst reason why there are no results of all jobs. All doubts are one reason, which names each of them. */
async function worstReason(
  client: Client,
  cycle: ClaimedCycle,
  how: { readonly seen: Jobs } & Pick<PollClaims, 'again' | 'resubmit' | 'contested'>,
): Promise<SvcError | undefined> {
  const reasons: SvcError[] = [];
  const doubts: Doubt[] = [];
  // One new job shows that a list is up to date, for all jobs that are missing there.
  const spare = new SpareJob(client);
  for (const claim of cycle.claims) {
    const why = await reasonOf(client, cycle, claim, { ...how, spare });
    if (typeof why === 'string') doubts.push({ claim, why });
    else if (why !== undefined) reasons.push(why);
  }
  return worstOf([...reasons, doubtError(doubts, { cycle: cycle.name, now: client.now(), again: how.again })]);
}

/** Returns why a job has no results, or what is not known of it; undefined if it is completed. */
async function reasonOf(
  client: Client,
  { name, cycle, ledger, tenant, entries }: NamedCycle,
  claim: ClaimEntry,
  {
    seen,
    spare,
    again,
    resubmit,
    contested,
  }: { readonly seen: Jobs; readonly spare: SpareJob } & Pick<PollClaims, 'again' | 'resubmit' | 'contested'>,
): Promise<SvcError | Doubt['why'] | undefined> {
  const { job } = claim;
  const status = seen.get(job)?.status;
  const facts = { job, cycle: name, rows: claim.rows };
  const what = `${jobText(claim, name)},`;
  const isForgotten = status === undefined && deliveryOf(entries, job) !== undefined;
  // A read of the results did not find the job either.
  if (isForgotten && contested.has(job)) return 'delivered';
  if (status === 'completed' || isForgotten) return undefined;
  if (status === 'pending' && ledger.jobFiles(job).sent === 'all') return 'sent';
  if (status !== undefined && status !== 'failed')
    return new SvcError('pending', `${what} is ${status}`, { next: again, facts: { ...facts, job_status: status } });
  if (status === undefined && contested.has(job)) return 'shown';
  if (status === undefined && isDone(entries, job)) return 'read';
  // Whoever read results knows better than a service that says later that the job failed.
  if (status === 'failed' && isDone(entries, job) && (await keptResults(ledger, tenant, job)) !== undefined)
    return undefined;
  const end = await endOf(client, cycle, { claim, status, spare, stored: ledger.isStored });
  if (end !== undefined)
    return new SvcError('job_failed', `${what} ${end === 'failed' ? 'failed' : 'was deleted without its file'}`, {
      hint: 'Nothing was billed for that job. Submit its file again, which sends the rows in another one:',
      next: resubmit ?? submitWords('<file>', name),
      facts,
    });
  return ledger.isStored(job) ? 'confirmed' : 'missing';
}

interface Ending {
  readonly claim: ClaimEntry;
  readonly status: string | undefined;
  readonly spare: SpareJob;
  readonly stored: (job: string) => boolean;
}

/** Ends the claim of a job that failed or certainly never got its file. Undefined if neither is known. */
async function endOf(
  client: Client,
  cycle: LedgerCycle,
  { claim, status, spare, stored }: Ending,
): Promise<'failed' | 'gone' | undefined> {
  try {
    return (await settleClaim(client, cycle, { claim, isDone: false }, { newer: () => spare.get(), stored })).end;
  } catch (error) {
    // A command that has no time left, or may only read the ledger, frees no rows, and still says what the service said.
    if (!isSvcError(error, 'timeout') && !(error instanceof ReadOnlyPlace)) throw error;
    return status === 'failed' ? 'failed' : undefined;
  }
}
