import fs from 'node:fs';
import path from 'node:path';
import type { RunRecord } from '../../account-updater/record.ts';
import { type FoundRuns, listRuns, RunDirectory } from '../../account-updater/run-directory.ts';
import type { Context, PreviewRequest } from '../../app/command.ts';
import { baseUrlText } from '../../config/values.ts';
import { requireDirectory, stateDirectory } from '../../config/paths.ts';
import { isSvcError, SvcError } from '../../errors.ts';

/** Where runs are recorded when no --run-dir is given. */
export function runsRoot({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'runs');
}

/** The same where there may be no home directory. */
export function knownRunsRoot({ system }: Pick<Context, 'system'>): string | undefined {
  const state = stateDirectory(system);
  return state === undefined ? undefined : path.join(state, 'runs');
}

/** The runs recorded on this machine, the newest first. One that cannot be read is left out, with a warning. */
export function recordedRuns(context: Pick<Context, 'system' | 'notices'>): FoundRuns {
  const root = knownRunsRoot(context);
  const found = root === undefined ? { runs: [], unreadable: [] } : listRuns(root);
  for (const { error } of found.unreadable) context.notices.warn(error.message);
  return found;
}

/** The service that a run's jobs are at. The embedded sandbox is one and the same, wherever it listens. */
export function serviceOf({ settings }: Pick<Context, 'settings'>): string {
  if (settings.sandbox && settings.baseUrl === undefined) return 'sandbox';
  return baseUrlText(settings.requireBaseUrl());
}

/**
 * The run that an argument names: by its id, or by its directory. Undefined when it is a job's id.
 * @throws SvcError `not_found` for a run id that is not recorded here, `config` for a run at another service
 */
export function namedRun(
  context: Pick<Context, 'system' | 'settings'>,
  argument: string,
): RunDirectory | undefined {
  const run = openNamed(context, argument);
  if (!run) return undefined;
  const here = serviceOf(context);
  if (run.record.base_url === here || run.record.also_at?.includes(here)) return run;
  throw new SvcError('config', `${run.record.id} is a run at ${run.record.base_url}, not at ${here}`, {
    hint: `Choose its profile: --profile ${run.record.profile}`,
  });
}

/**
 * Where the results of a run are to go: to the place that is recorded, if it is on this machine. A run that was carried
 * here has its place elsewhere, and its results go into this directory under the same name.
 */
export function resultsPath({ notices }: Pick<Context, 'notices'>, { out }: RunRecord): string {
  if (out === undefined || isOnThisMachine(out)) return out ?? 'results.csv';
  const here = path.basename(out);
  notices.note(`${path.dirname(out)} is not there: the results go to ${here} in this directory`);
  return here;
}

/** Whether the directory of a file is there. */
export function isOnThisMachine(file: string): boolean {
  return fs.existsSync(path.dirname(file));
}

/** The request for a job, or for the first part of a run that has one, for `--curl`. */
export async function jobRequest(context: Context, argument: string): Promise<PreviewRequest> {
  const run = namedRun(context, argument);
  const job = run ? run.record.parts.find((part) => part.job !== undefined)?.job : argument;
  if (job !== undefined) return (await import('../../api/resources.ts')).readJobRequest(job);
  throw new SvcError('usage', `--curl has nothing to show: ${argument} has no job yet`, {
    hint: 'Leave --curl out.',
  });
}

/** Explains a job that the service does not find by what is recorded of it here. */
export async function explainMissing<T>(context: Context, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    const { missingError } = await import('../../account-updater/job.ts');
    const expiresAt = recordedExpiry(context, id);
    const now = (await context.client()).now();
    throw Number.isNaN(expiresAt) ? missingError(id) : missingError(id, { expiresAt, now });
  }
}

/** When the upload address of a job expires, in epoch milliseconds; NaN of a job that no run here created. */
function recordedExpiry(context: Context, id: string): number {
  const root = knownRunsRoot(context);
  const parts = root === undefined ? [] : listRuns(root).runs.flatMap(({ record }) => record.parts);
  return Date.parse(parts.find(({ job }) => job === id)?.expires_at ?? '');
}

function openNamed({ system }: Pick<Context, 'system'>, argument: string): RunDirectory | undefined {
  if (fs.existsSync(path.join(argument, 'run.json'))) return RunDirectory.open(argument);
  if (!argument.startsWith('run-')) return undefined;
  const root = stateDirectory(system);
  const run =
    root === undefined ? undefined : RunDirectory.open(path.join(root, 'runs', path.basename(argument)));
  if (run) return run;
  throw new SvcError('not_found', 'there is no such run recorded on this machine', {
    hint: "Name its directory, or look at 'svc au status' for the runs recorded here.",
  });
}
