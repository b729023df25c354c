// The one loop that waits for the jobs of a cycle.

import { type JobOptions, endError, findJob, findJobs, pollReporter } from '../job/job.ts';
import { withInterruption } from '../job/resumable.ts';
import { Absences, MAX_WAIT_MS } from '../job/wait.ts';
import { progressText } from './claim-texts.ts';
import { type ClaimedCycle, type Jobs, type MissingOptions, areResultsKept, worstReason } from './missing-results.ts';
import { deliveryOf } from '../ledger/claims.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { provableUntil } from '../ledger/proof-of-absence.ts';
import type { SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';

interface PollOptions extends Pick<JobOptions, 'onEvent'>, MissingOptions {
  /** Whether to poll until no job is under way. */
  readonly wait: boolean;
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
      const found = jobs.get(job);
      if (found !== undefined) return found.status === 'completed' || endError(found) !== undefined;
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

function progressOf(claims: readonly ClaimEntry[], jobs: Jobs): string {
  return progressText(claims.map(({ job }) => jobs.get(job)?.status ?? 'not found'));
}
