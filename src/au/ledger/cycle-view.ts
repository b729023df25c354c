import { statusAmong, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import { toneOf } from '../job/tone.ts';

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
