import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { directoryOf, requireDirectory } from '../../cli/config/paths.ts';
import { isRunId } from './run-word.ts';
import { everyJobOf } from './part.ts';
import { isAt, isOfSandbox, isUntouched, type RunRecord } from './record.ts';
import { type FoundRuns, listRuns, newestFirst, RECORD, RunDirectory } from './run-directory.ts';

/** Returns the directory where runs are recorded. */
export function runsRoot({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'runs');
}

/** Like `runsRoot`, but returns undefined if there is no home directory. */
export function knownRunsRoot({ system }: Pick<Context, 'system'>): string | undefined {
  const state = directoryOf(system, 'state');
  return state === undefined ? undefined : path.join(state, 'runs');
}

type Warned = Pick<Context, 'system' | 'notices' | 'globals'>;

/** Returns every run recorded on this machine, but not pruned ones. Each run appears once, newest first. */
export async function recordedRuns(context: Warned): Promise<FoundRuns> {
  const { runs, unreadable } = await everyRun(context);
  const ids = runs.map(({ record }) => record.id);
  const isFirst = ({ record }: RunDirectory, index: number): boolean => ids.indexOf(record.id) === index;
  return { runs: runs.filter(isFirst).filter(({ record }) => record.pruned_at === undefined), unreadable };
}

/** Like `recordedRuns`, but includes pruned runs. Warns about each unreadable record and leaves it out. */
export async function everyRun(context: Warned): Promise<FoundRuns> {
  const { runs, unreadable } = await foundRuns(context);
  for (const { error } of unreadable) warnOf(context, LEFT_OUT, error);
  return { runs: newestFirst(runs), unreadable };
}

/** Like `everyRun`, but leaves unreadable records out without a warning. */
export async function silentRuns(context: Pick<Context, 'system'>): Promise<RunDirectory[]> {
  return [...(await foundRuns(context)).runs];
}

async function foundRuns(context: Pick<Context, 'system'>): Promise<FoundRuns> {
  const root = knownRunsRoot(context);
  return root === undefined ? { runs: [], unreadable: [] } : listRuns(root);
}

const LEFT_OUT = 'a run is left out';

/**
 * Returns the run with this id or directory; undefined if the argument names a job.
 * @throws SvcError `not_found`, `config`
 */
export async function namedRun(
  context: Pick<Context, 'system' | 'settings'>,
  argument: string,
): Promise<RunDirectory | undefined> {
  const run = await recordedRun(context, argument);
  if (run) requireHere(context, run);
  return run;
}

/**
 * Like `namedRun`, but returns undefined for a word that looks like the id of a run and that no run has: earlier versions
 * began cycles with such names.
 */
export async function runOrCycle(
  context: Pick<Context, 'system' | 'settings'>,
  argument: string,
): Promise<RunDirectory | undefined> {
  try {
    return await namedRun(context, argument);
  } catch (error) {
    if (!isSvcError(error, 'not_found') || isRunId(argument)) throw error;
    return undefined;
  }
}

/**
 * Checks that a run belongs to the current service.
 * @throws SvcError `config` for a run that sent something to another service
 */
export function requireHere(context: Pick<Context, 'settings'>, run: RunDirectory): void {
  // A run that sent nothing belongs to no service.
  if (isUntouched(run.record)) return;
  const here = serviceOf(context);
  if (isAt(run.record, here)) return;
  throw new SvcError('config', `${run.record.id} is a run at ${run.record.base_url}, not at ${here}`, {
    hint: placeHint(context, run.record),
    facts: { run: run.record.id, base_url: run.record.base_url, profile: run.record.profile },
  });
}

function placeHint({ settings }: Pick<Context, 'settings'>, { profile, base_url: address }: RunRecord): string {
  if (profile !== settings.profile.value) return `Choose its profile: --profile ${profile}`;
  return address === 'sandbox' ? 'Add --sandbox.' : `Give its address: --base-url ${address}`;
}

/** Tells whether a run was submitted with the profile and the service of this command. */
export function isOfProfile(context: Pick<Context, 'settings'>, record: RunRecord): boolean {
  return record.profile === context.settings.profile.value && isAt(record, serviceOf(context));
}

/** Like `namedRun`, but accepts a run of any address, for commands that need no service. */
export async function recordedRun(
  context: Pick<Context, 'system'>,
  argument: string,
): Promise<RunDirectory | undefined> {
  if (fs.existsSync(path.join(argument, RECORD))) return RunDirectory.open(argument);
  if (!argument.startsWith('run-')) return undefined;
  const root = knownRunsRoot(context);
  const run = root === undefined ? undefined : await runCalled(root, path.basename(argument));
  if (run) return run;
  throw new SvcError('not_found', 'there is no such run recorded on this machine', {
    hint: 'Name its directory, or a run that is shown beside its job:',
    next: ['au', 'jobs'],
  });
}

/** Returns the run with this id, or else the run in the directory of this name. */
async function runCalled(root: string, name: string): Promise<RunDirectory | undefined> {
  const run = await RunDirectory.open(path.join(root, name));
  if (run?.record.id === name) return run;
  const { runs } = await listRuns(root);
  return runs.find(({ record }) => record.id === name) ?? run;
}

/** Returns the current jobs of a run. Several parts may wait for the same job of another run. */
export function jobsOf({ parts }: Pick<RunRecord, 'parts'>): string[] {
  return [...new Set(parts.flatMap(({ job }) => job ?? []))];
}

/**
 * Returns the ids of all jobs that records name, and of jobs that belong to another system according to the operator. A job
 * in the embedded sandbox may have the same id as a job of a service.
 */
export function knownJobs(records: readonly RunRecord[], isSandbox: boolean): ReadonlySet<string> {
  const own = records.filter((record) => isOfSandbox(record) === isSandbox);
  return new Set([
    ...own.flatMap(({ parts }) => parts.flatMap(everyJobOf)),
    ...own.flatMap(({ other_jobs: jobs = [] }) => jobs),
  ]);
}
