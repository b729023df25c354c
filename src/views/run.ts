import type { Tone, View } from '../render/view.ts';

/** A run in one line. */
export interface RunRow {
  readonly run: string;
  readonly status: string;
  /** Null, as what follows, where the record cannot be read. */
  readonly created_at: string | null;
  /** The refresh of the file that it is, if that was named. */
  readonly cycle: string | null;
  readonly file: string | null;
  readonly rows: number | null;
  readonly jobs: number | null;
  /** How far it is, in words. */
  readonly progress: string;
}

/** How a list of runs is shown. */
export const runView: View<RunRow> = {
  name: 'run',
  fields: ['run', 'status', 'created_at', 'cycle', 'file', 'rows', 'jobs', 'progress'],
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: tone },
    { path: 'created_at', kind: 'time', priority: 1 },
    { path: 'cycle', kind: 'text', priority: 5 },
    { path: 'rows', kind: 'number', priority: 2 },
    { path: 'progress', kind: 'text', priority: 4 },
    { path: 'file', kind: 'text', priority: 3 },
  ],
};

/** One part of a run. */
export interface PartRow {
  readonly part: number;
  readonly rows: number;
  readonly state: string;
  /** The job's status in the service's word, when it was last looked at. */
  readonly job_status: string | null;
  readonly job: string | null;
  readonly errors: readonly string[];
}

/** How the parts of a run are shown. */
export const partView: View<PartRow> = {
  name: 'part',
  fields: ['part', 'rows', 'state', 'job_status', 'job', 'errors'],
  columns: [
    { path: 'part', kind: 'number' },
    { path: 'rows', kind: 'number', priority: 1 },
    { path: 'state', kind: 'status', paint: tone },
    { path: 'job', kind: 'id' },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
};

function tone(state: unknown): Tone | undefined {
  if (state === 'completed' || state === 'downloaded') return 'good';
  return state === 'failed' || state === 'unknown' ? 'bad' : undefined;
}
