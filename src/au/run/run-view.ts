import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context, PreviewRequest } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { repeated } from '../../cli/app/parameter.ts';
import { knownTenant } from '../../cli/config/cache.ts';
import { directoryOf, requireDirectory } from '../../cli/config/paths.ts';
import { baseUrlText, type ChosenStep, parseChosenStep, RESULT_STEPS } from '../../cli/config/values.ts';
import { fieldPaths, type Tone, type View } from '../../cli/output/view.ts';
import { dominanceWarning } from '../results/report-view.ts';
import type { Actions } from '../results/result-codes.ts';
import { missingError } from './job.ts';
import { areCompared, isUnsent, isUntouched, type PartState, progressOf, type RunRecord, statusOf } from './record.ts';
import { type FoundRuns, listRuns, newestFirst, RECORD, RunDirectory } from './run-directory.ts';
import { indexedRuns } from './run-index.ts';

/** Where runs are recorded unless `--run-dir` is given. */
export function runsRoot({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'runs');
}

/** The same where there may be no home directory. */
export function knownRunsRoot({ system }: Pick<Context, 'system'>): string | undefined {
  const state = directoryOf(system, 'state');
  return state === undefined ? undefined : path.join(state, 'runs');
}

type Warned = Pick<Context, 'system' | 'notices' | 'globals'>;

/** Every run recorded on this machine, also elsewhere (`--run-dir`), except pruned ones: each once, the newest first. */
export function recordedRuns(context: Warned): FoundRuns {
  const { runs, unreadable } = everyRun(context);
  const ids = runs.map(({ record }) => record.id);
  const isFirst = ({ record }: RunDirectory, index: number): boolean => ids.indexOf(record.id) === index;
  return { runs: runs.filter(isFirst).filter(({ record }) => record.pruned_at === undefined), unreadable };
}

/** The same with pruned runs. Each record that cannot be read is left out, with a warning. */
export function everyRun(context: Warned): FoundRuns {
  const root = knownRunsRoot(context);
  const found = root === undefined ? [] : [listRuns(root), indexedRuns(root, () => true)];
  const runs = newestFirst(found.flatMap((each) => each.runs));
  const ids = new Set(runs.map(({ record }) => record.id));
  // A run that was moved into the state directory is still indexed where it was.
  const unreadable = found.flatMap((each) => each.unreadable).filter(({ run }) => !ids.has(run ?? ''));
  for (const { error } of unreadable) warnOf(context, LEFT_OUT, error);
  return { runs, unreadable };
}

/** The records of every run on this machine, as far as they can be read. */
export function everyRecord(context: Pick<Context, 'system'>): RunRecord[] {
  const root = knownRunsRoot(context);
  const found = root === undefined ? [] : [listRuns(root), indexedRuns(root, () => true)];
  return found.flatMap(({ runs }) => runs.map(({ record }) => record));
}

const LEFT_OUT = 'a run is left out';

/** The service that a run's jobs are at. The embedded sandbox is one and the same, wherever it listens. */
export function serviceOf({ settings }: Pick<Context, 'settings'>): string {
  if (settings.sandbox && settings.baseUrl === undefined) return 'sandbox';
  return baseUrlText(settings.requireBaseUrl());
}

/** The run that an argument names by id or directory; undefined for a job's. @throws SvcError `not_found`, `config` */
export function namedRun(context: Pick<Context, 'system' | 'settings'>, argument: string): RunDirectory | undefined {
  const run = recordedRun(context, argument);
  // Nobody owns a run that sent nothing, so that no service has anything of it.
  if (!run || isUntouched(run.record)) return run;
  const here = serviceOf(context);
  if (run.record.base_url === here || run.record.also_at?.includes(here)) return run;
  throw new SvcError('config', `${run.record.id} is a run at ${run.record.base_url}, not at ${here}`, {
    hint: placeHint(context, run.record),
    facts: { run: run.record.id, base_url: run.record.base_url, profile: run.record.profile },
  });
}

function placeHint({ settings }: Pick<Context, 'settings'>, { profile, base_url: address }: RunRecord): string {
  if (profile !== settings.profile.value) return `Choose its profile: --profile ${profile}`;
  return address === 'sandbox' ? 'Add --sandbox.' : `Give its address: --base-url ${address}`;
}

/** The same, wherever its jobs are: for what needs no service. */
export function recordedRun(context: Pick<Context, 'system'>, argument: string): RunDirectory | undefined {
  if (fs.existsSync(path.join(argument, RECORD))) return RunDirectory.open(argument);
  if (!argument.startsWith('run-')) return undefined;
  const root = knownRunsRoot(context);
  const run = root === undefined ? undefined : runCalled(root, path.basename(argument));
  if (run) return run;
  throw new SvcError('not_found', 'there is no such run recorded on this machine', {
    hint: 'Name its directory, or one of the runs recorded here.',
    next: ['au', 'runs'],
  });
}

/** The run with this id or, where there is none, in the directory of this name. */
function runCalled(root: string, name: string): RunDirectory | undefined {
  const run = RunDirectory.open(path.join(root, name));
  if (run?.record.id === name) return run;
  return listRuns(root).runs.find(({ record }) => record.id === name) ?? run;
}

/** Where a run's results go: the recorded path or, where its directory does not exist here, that name in this one. */
export function resultsPath({ notices }: Pick<Context, 'notices'>, { out }: RunRecord): string {
  if (out === undefined || isOnThisMachine(out)) return out ?? 'results.csv';
  const here = path.basename(out);
  notices.note(`${path.dirname(out)} does not exist: the results go to ${here} in this directory`);
  return here;
}

export function isOnThisMachine(file: string): boolean {
  return fs.existsSync(path.dirname(file));
}

/** The request for a job, or for the first part of a run that has one, for `--curl`. */
export async function jobRequest(context: Context, argument: string): Promise<PreviewRequest> {
  const run = namedRun(context, argument);
  const job = run ? run.record.parts.find((part) => part.job !== undefined)?.job : argument;
  if (job !== undefined) return (await import('../../client/api/resources.ts')).readJobRequest(job);
  throw new SvcError('usage', `--curl has nothing to show: ${argument} has no job yet`, { hint: 'Omit --curl.' });
}

/** Explains a job that the service does not find by what is recorded of it here. */
export async function explainMissing<T>(context: Context, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    const root = knownRunsRoot(context);
    const parts = root === undefined ? [] : listRuns(root).runs.flatMap(({ record }) => record.parts);
    const expiresAt = Date.parse(parts.find(({ job }) => job === id)?.expires_at ?? '');
    const now = (await context.client()).now();
    throw Number.isNaN(expiresAt) ? missingError(id) : missingError(id, { expiresAt, now });
  }
}

/** Says at the end of work that was cut short how to resume it. */
export async function resumable<T>(next: readonly string[], id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout')) throw error;
    throw new SvcError(error.code, `${error.message}; ${id} can be resumed`, { next, facts: { job: id } });
  }
}

/** The status of a run or a part, in the same words everywhere; `unknown` where the service may have its file. */
export type ShownStatus = 'not sent' | 'pending' | 'completed' | 'failed' | 'abandoned' | 'unknown' | 'damaged';

export function shownStatus(record: RunRecord): ShownStatus {
  const status = statusOf(record);
  if (status !== 'open') return status;
  if (isUntouched(record)) return 'not sent';
  return record.parts.some(({ state }) => state === 'unknown') ? 'unknown' : 'pending';
}

export function jobsOf({ parts }: Pick<RunRecord, 'parts'>): string[] {
  return parts.flatMap(({ job }) => job ?? []);
}

/** A run in one line; null where the record cannot be read. */
export type RunRow = { readonly [Name in keyof ReturnType<typeof runRow>]: ReturnType<typeof runRow>[Name] | null };

export const runView: View<RunRow> = {
  name: 'run',
  fields: fieldPaths('run profile status created_at cycle file rows jobs job_count progress compared'),
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

/** With the profile that it was started with, the jobs that were created, and how many its file takes. */
export function runRow(record: RunRecord) {
  const { id, profile, created_at, cycle, input, parts } = record;
  return {
    run: id,
    profile,
    status: shownStatus(record),
    created_at,
    cycle: cycle ?? null,
    file: input.name,
    rows: input.rows,
    jobs: jobsOf(record),
    job_count: parts.length,
    progress: progressOf(record),
    // Null until the results are written.
    compared: record.results === undefined ? null : areCompared(record),
  };
}

/** The tenant of a run's jobs, with its type and name where they are known; undefined where it is not recorded. */
export function tenantOf({ system }: Pick<Context, 'system'>, record: RunRecord): string | undefined {
  const { profile, base_url: baseUrl, tenant_id: id } = record;
  const known = knownTenant(system, profile, baseUrl);
  return known !== undefined && known.id === id ? `${known.type.toUpperCase()} ${known.name} (${id})` : id;
}

/** What to look at first in the results of a run, where one error code has most of its rows. */
export function warningOf(context: Pick<Context, 'system'>, record: RunRecord, codes: readonly CodeOf[]) {
  return dominanceWarning(codes, record.input.rows, tenantOf(context, record));
}

type CodeOf = Parameters<typeof dominanceWarning>[0][number];

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

/** The progress of a part is its job's status as the service says, or the step on this side. */
export function partRows({ parts }: RunRecord): PartRow[] {
  return parts.map((part) => ({
    part: part.number,
    rows: part.rows,
    status: isUnsent(part) ? 'not sent' : (STATUS_OF[part.state] ?? 'pending'),
    progress: progressOf({ parts: [part] }),
    job: part.job ?? null,
    errors: part.errors ?? [],
  }));
}

/** All other states are `pending`. */
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

const STEPS = RESULT_STEPS.join(', ');

/** `--action`: what to do about a result code, where the operator knows better. The last one for a code counts. */
export const actionParameter = repeated(
  '--action <code=step>',
  `action for rows with this result code: ${STEPS}; for example WRN_OPT_OUT=exclude. To set it once and for all: svc profile set action.WRN_OPT_OUT exclude`,
  (typed): ChosenStep => {
    const chosen = parseChosenStep(typed);
    if (chosen) return chosen;
    throw new SvcError('usage', `must be a result code, =, and one of ${STEPS}`);
  },
);

/** What the operator chose, code by code: on the command line, else in the profile. */
export function actionsOf({ settings }: Pick<Context, 'settings'>, typed: readonly ChosenStep[]): Actions {
  return new Map([...Object.entries(settings.stored?.actions ?? {}), ...typed]);
}
