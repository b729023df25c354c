import { statusAmong, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import { toneOf } from '../job/job-view.ts';
import { cleanText } from '../../cli/output/text.ts';
import { byText, deliveryOf, standingClaims, stands } from '../ledger/claims.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import type { Client } from '../../client/api/client.ts';
import { findJobs } from '../job/job.ts';
import type { Ledger, OpenCycle } from '../ledger/ledger.ts';

/** The status of a job that the service does not know. It may have been paid for. */
export const UNKNOWN = 'unknown';

/** A cycle of the ledger with jobs whose results nobody has read. */
export interface CycleRow {
  readonly cycle: string;
  /** What the service says of the jobs whose results nobody has read: of several, what needs the operator most. */
  readonly status: string;
  /** When its first job was created, in the service's time. */
  readonly began_at: string;
  /** Who sent the first job, as user@host. */
  readonly by: string;
  /** The file of the first job. */
  readonly file: string;
  readonly rows: number;
  readonly jobs: number;
  /** The jobs whose results nobody has read. */
  readonly open_jobs: readonly string[];
}

export const cycleView: View<CycleRow> = {
  name: 'cycle',
  fields: ['cycle', 'status', 'began_at', 'by', 'file', 'rows', 'jobs', 'open_jobs'],
  columns: [
    { path: 'cycle', kind: 'text' },
    { path: 'status', kind: 'status', show: statusAmong([...JOB_STATUSES, UNKNOWN]), paint: toneOf },
    { path: 'began_at', kind: 'time' },
    { path: 'by', kind: 'text', priority: 2 },
    { path: 'file', kind: 'text', priority: 1 },
    { path: 'rows', kind: 'number' },
    { path: 'jobs', kind: 'number', priority: 1 },
  ],
};

/** A job of a cycle, as the ledger and the service have it. */
export interface ClaimRow {
  readonly job: string;
  /** What the service says of the job. */
  readonly status: string;
  readonly rows: number;
  /** When the job was created, in the service's time. */
  readonly created_at: string;
  /** Who sent it, as user@host. */
  readonly by: string;
  readonly file: string;
  /** Whether somebody received its results. */
  readonly results_read: boolean;
  /** Why its rows are free: `failed`, `gone`, `operator`; null if they are not. */
  readonly freed: string | null;
  /** What was read before its rows were freed; null if they are not free. */
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

/** Returns the row of a claim. `status` is what the service said of its job. */
export function claimRow(claim: ClaimEntry, entries: readonly Entry[], status: string): ClaimRow {
  const releases = entries.filter((entry) => entry.kind === 'release').filter(({ job }) => job === claim.job);
  const end = stands(entries, claim.job) ? undefined : releases.at(-1);
  return {
    job: claim.job,
    status,
    rows: claim.rows,
    created_at: claim.created_at,
    by: byText(claim),
    file: cleanText(claim.file.name),
    results_read: deliveryOf(entries, claim.job) !== undefined,
    freed: end?.why ?? null,
    proof: end === undefined ? null : cleanText(end.proof),
  };
}

/** What needs the operator most comes first. */
const ORDER = [UNKNOWN, 'failed', 'completed'];

/**
 * Returns the cycles that have jobs whose results nobody has read, whichever machine sent them, newest first. Each of these
 * jobs is read from the service.
 */
export async function unreadCycles(client: Client, ledger: Ledger): Promise<CycleRow[]> {
  const cycles: OpenCycle[] = [];
  for await (const cycle of ledger.openCycles()) cycles.push(cycle);
  const jobs = await findJobs(client, new Set(cycles.flatMap(({ open }) => open)));
  const rows = cycles.flatMap(({ cycle, entries, open }): CycleRow[] => {
    const claims = standingClaims(entries);
    const [first] = claims;
    if (first === undefined) return [];
    const statuses = open.map((job) => jobs.get(job)?.status ?? UNKNOWN);
    return [
      {
        cycle: cycle.name,
        status: ORDER.find((status) => statuses.includes(status)) ?? statuses[0] ?? UNKNOWN,
        began_at: first.created_at,
        by: byText(first),
        file: cleanText(first.file.name),
        rows: claims.reduce((sum, claim) => sum + claim.rows, 0),
        jobs: claims.length,
        open_jobs: open,
      },
    ];
  });
  return rows.toSorted((one, other) => Date.parse(other.began_at) - Date.parse(one.began_at));
}
