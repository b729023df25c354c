// The rows of 'svc au status': the open cycles, and the claims of one cycle.

import { statusAmong, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import { toneOf } from '../job/job-view.ts';
import { cleanText } from '../../cli/output/text.ts';
import { creationOf, senderName, deliveryOf, standingClaims, hasStandingClaim } from '../ledger/claims.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import { progressText } from './claim-texts.ts';
import type { Client } from '../../client/api/client.ts';
import { findJobs } from '../job/job.ts';
import type { Ledger, OpenCycle } from '../ledger/ledger.ts';

/** The status of a job that the service does not find. The job may have been billed. */
export const UNKNOWN = 'unknown';

/** A cycle of the ledger with jobs whose results nobody has received, or with rows that no job has. */
export interface CycleRow {
  readonly cycle: string;
  /** The most urgent status among the open jobs. */
  readonly status: string;
  /** When its first job was created, in the service's time. */
  readonly began_at: string;
  /** Who sent the first job, as user@host. */
  readonly by: string;
  /** The file of the first job, and how many others there are. */
  readonly file: string;
  readonly rows: number;
  readonly jobs: number;
  /** The number of open jobs by status, such as "1 processing, 2 completed". */
  readonly progress: string;
  /** The jobs whose results nobody has received. */
  readonly open_jobs: readonly string[];
  /** How many rows no job has. */
  readonly lost_rows: number;
}

export const cycleView: View<CycleRow> = {
  name: 'cycle',
  fields: ['cycle', 'status', 'began_at', 'by', 'file', 'rows', 'jobs', 'progress', 'open_jobs', 'lost_rows'],
  columns: [
    { path: 'cycle', kind: 'text' },
    { path: 'status', kind: 'status', show: statusAmong([...JOB_STATUSES, UNKNOWN]), paint: toneOf },
    { path: 'began_at', kind: 'time' },
    { path: 'by', kind: 'text', priority: 2 },
    { path: 'file', kind: 'text', priority: 1 },
    { path: 'rows', kind: 'number' },
    { path: 'progress', kind: 'text', priority: 3, repeats: ({ status, progress }) => progress === status },
    { path: 'jobs', kind: 'number', priority: 1 },
  ],
};

/** A claim of a cycle with the status of its job. */
export interface ClaimRow {
  readonly job: string;
  /** The status that the service reports. */
  readonly status: string;
  readonly rows: number;
  /** When the job was created, in the service's time. */
  readonly created_at: string;
  /** Who sent the rows, as user@host. */
  readonly by: string;
  readonly file: string;
  /** Whether somebody received the results. */
  readonly results_read: boolean;
  /** Why the rows are free: `failed`, `gone`, `operator`; null for a claim that stands. */
  readonly freed: string | null;
  /** The proof on which the rows were freed; null for a claim that stands. */
  readonly proof: string | null;
}

export const claimView: View<ClaimRow> = {
  name: 'claim',
  fields: ['job', 'status', 'rows', 'created_at', 'by', 'file', 'results_read', 'freed', 'proof'],
  columns: [
    { path: 'job', kind: 'id' },
    { path: 'status', kind: 'status', show: statusAmong([...JOB_STATUSES, UNKNOWN]), paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'created_at', kind: 'time', priority: 1 },
    { path: 'by', kind: 'text', priority: 4 },
    { path: 'file', kind: 'text', priority: 2 },
    { path: 'freed', kind: 'text', priority: 3, repeats: ({ freed }) => freed === null },
  ],
};

/** Returns the row of a claim. `status` is the status of its job. */
export function claimRow(claim: ClaimEntry, entries: readonly Entry[], status: string): ClaimRow {
  const releases = entries.filter((entry) => entry.kind === 'release').filter(({ job }) => job === claim.job);
  const end = hasStandingClaim(entries, claim.job) ? undefined : releases.at(-1);
  return {
    job: claim.job,
    status,
    rows: claim.rows,
    created_at: claim.created_at,
    by: senderName(claim),
    file: cleanText(claim.file.name),
    results_read: deliveryOf(entries, claim.job) !== undefined,
    freed: end?.why ?? null,
    proof: end === undefined ? null : cleanText(end.proof),
  };
}

/** Returns the cycles with open jobs or rows that no job has, of any machine, newest first. The service is asked about each open job. */
export async function unreadCycles(client: Client, ledger: Ledger): Promise<CycleRow[]> {
  const cycles: OpenCycle[] = [];
  for await (const cycle of ledger.openCycles()) cycles.push(cycle);
  const jobs = await findJobs(client, new Set(cycles.flatMap(({ open }) => open)));
  const rows = cycles.flatMap(({ cycle, entries, open, lost }): CycleRow[] => {
    const standing = standingClaims(entries);
    const claims = standing.length === 0 ? lost.map(({ claim }) => claim) : standing;
    const [first] = claims;
    if (first === undefined) return [];
    const statuses = open.map((job) => jobs.get(job)?.status ?? UNKNOWN);
    const files = new Set(claims.map(({ file }) => cleanText(file.name)));
    return [
      {
        cycle: cycle.name,
        status: statusOf(lost.length === 0 ? statuses : [...statuses, 'failed']),
        began_at: first.created_at,
        by: senderName(first),
        file: cleanText(first.file.name) + (files.size > 1 ? ` and ${files.size - 1} more` : ''),
        rows: claims.reduce((sum, claim) => sum + claim.rows, 0),
        jobs: claims.length,
        progress: progressText(statuses),
        open_jobs: open,
        lost_rows: lost.reduce((sum, { rows: { size } }) => sum + size, 0),
      },
    ];
  });
  return rows.toSorted(
    (one, other) => creationOf({ created_at: other.began_at }) - creationOf({ created_at: one.began_at }),
  );
}

/** Returns the most urgent status: a cycle is completed once each of its jobs is. */
function statusOf(statuses: readonly string[]): string {
  const urgent = [UNKNOWN, 'failed'].find((status) => statuses.includes(status));
  return urgent ?? statuses.find((status) => status !== 'completed') ?? 'completed';
}
