import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../../cli/app/command.ts';
import { knownTenant } from '../../cli/config/cache.ts';
import { fieldPaths, type Tone, type View } from '../../cli/output/view.ts';
import type { TenantFacts } from '../../schema/tenant.ts';
import { isForgotten, isUnsent, type Part, type PartState } from './part.ts';
import {
  areCompared,
  isForgottenRun,
  isMissingUpload,
  isUntouched,
  partsByJob,
  progressOf,
  recordedAt,
  type RunRecord,
  statusOf,
} from './record.ts';
import { jobsOf, silentRuns } from './recorded-runs.ts';

/** Returns the readable records of all runs on this machine. */
export async function everyRecord(context: Pick<Context, 'system'>): Promise<RunRecord[]> {
  return (await silentRuns(context)).map(({ record }) => record);
}

/**
 * Returns the path for a run's results: the recorded path, or its file name in this directory if its directory does not
 * exist here.
 */
export function resultsPath({ notices }: Pick<Context, 'notices'>, { out }: RunRecord): string {
  if (out === undefined || isOnThisMachine(out)) return out ?? 'results.csv';
  const here = path.basename(out);
  notices.note(`${path.dirname(out)} does not exist: the results go to ${here} in this directory`);
  return here;
}

export function isOnThisMachine(file: string): boolean {
  return fs.existsSync(path.dirname(file));
}

/** The status of a run or a part, with the same words everywhere. `unknown`: the service may have its file. */
export type ShownStatus = 'not sent' | 'pending' | 'completed' | 'failed' | 'abandoned' | 'unknown' | 'damaged';

export function shownStatus(record: RunRecord): ShownStatus {
  const status = statusOf(record);
  if (status !== 'open') return status;
  if (isUntouched(record)) return 'not sent';
  if (isForgottenRun(record)) return 'completed';
  return record.parts.some((part) => part.state === 'unknown' || isMissingUpload(part)) ? 'unknown' : 'pending';
}

/** A run in one line. All values are null if the record is unreadable. */
export type RunRow = { readonly [Name in keyof ReturnType<typeof runRow>]: ReturnType<typeof runRow>[Name] | null };

export const runView: View<RunRow> = {
  name: 'run',
  fields: fieldPaths('run profile status recorded_at created_at cycle file rows jobs job_count progress compared'),
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'created_at', kind: 'time', priority: 1 },
    { path: 'cycle', kind: 'text', priority: 5 },
    { path: 'rows', kind: 'number', priority: 2 },
    { path: 'progress', kind: 'text', priority: 4 },
    { path: 'file', kind: 'text', priority: 3 },
  ],
};

/**
 * Returns the row of a run. Its profile is the one that began the run, and `job_count` is the number of jobs for the
 * file. The status is the one of the time `recorded_at`.
 */
export function runRow(record: RunRecord) {
  const { id, profile, created_at, cycle, input, parts } = record;
  return {
    run: id,
    profile,
    status: shownStatus(record),
    recorded_at: recordedAt(record),
    created_at,
    cycle: cycle ?? null,
    file: input.name,
    rows: input.rows,
    jobs: jobsOf(record),
    job_count: partsByJob(parts).length,
    progress: progressOf(record),
    // The comparison is null until the results are written.
    compared: record.results === undefined ? null : areCompared(record),
  };
}

/** Returns the tenant of a run's jobs, with its type and name if they are known; undefined if it is not recorded. */
export function tenantOf({ system }: Pick<Context, 'system'>, record: RunRecord): string | undefined {
  const { profile, base_url: baseUrl, tenant_id: id } = record;
  const known = knownTenant(system, profile, baseUrl);
  return known !== undefined && known.id === id ? tenantText(known) : id;
}

export function tenantText({ type, name, id }: TenantFacts): string {
  return `${type.toUpperCase()} ${name} (${id})`;
}

interface PartRow {
  readonly part: number;
  readonly rows: number;
  readonly status: ShownStatus;
  readonly progress: string;
  readonly job: string | null;
  readonly errors: readonly string[];
}

export const partView: View<PartRow> = {
  name: 'part',
  fields: ['part', 'rows', 'status', 'progress', 'job', 'errors'],
  columns: [
    { path: 'part', kind: 'number' },
    { path: 'rows', kind: 'number', priority: 1 },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'progress', kind: 'text', priority: 3 },
    { path: 'job', kind: 'id' },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
};

/**
 * Returns the rows of a run's parts. The progress of a part is its job's status in the service's words, or the step on
 * this machine.
 */
export function partRows({ parts }: RunRecord): PartRow[] {
  return parts.map((part) => ({
    part: part.number,
    rows: part.rows,
    status: statusOfPart(part),
    progress: progressOf({ parts: [part] }),
    job: part.job ?? null,
    errors: part.errors ?? [],
  }));
}

function statusOfPart(part: Part): ShownStatus {
  if (isUnsent(part)) return 'not sent';
  if (isForgotten(part)) return 'completed';
  return isMissingUpload(part) ? 'unknown' : (STATUS_OF[part.state] ?? 'pending');
}

/** The shown statuses of part states. All other states are shown as `pending`. */
const STATUS_OF: Readonly<Partial<Record<PartState, ShownStatus>>> = {
  completed: 'completed',
  downloaded: 'completed',
  failed: 'failed',
  unknown: 'unknown',
};

export function toneOf(status: unknown): Tone | undefined {
  return TONES.get(status);
}

const TONES: ReadonlyMap<unknown, Tone> = new Map([
  ['completed', 'good'],
  ['failed', 'bad'],
  ['unknown', 'warn'],
  ['pending', 'quiet'],
  ['not sent', 'quiet'],
]);
