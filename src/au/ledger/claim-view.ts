import { cleanText } from '../../cli/output/text.ts';
import { statusAmong, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import { toneOf } from '../job/tone.ts';
import { byText, deliveryOf, stands } from './claims.ts';
import { UNKNOWN } from './cycle-view.ts';
import type { ClaimEntry, Entry } from './entry.ts';

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
}

export const claimView: View<ClaimRow> = {
  name: 'claim',
  fields: ['job', 'status', 'rows', 'created_at', 'by', 'file', 'results_read', 'freed'],
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
  return {
    job: claim.job,
    status,
    rows: claim.rows,
    created_at: claim.created_at,
    by: byText(claim),
    file: cleanText(claim.file.name),
    results_read: deliveryOf(entries, claim.job) !== undefined,
    freed: stands(entries, claim.job) ? null : (releases.at(-1)?.why ?? null),
  };
}
