import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { directoryOf, requireDirectory } from '../../cli/config/paths.ts';
import { isUntouched, type RunRecord } from './record.ts';
import { type FoundRuns, listRuns, newestFirst, RECORD, RunDirectory } from './run-directory.ts';
import { indexedRuns } from './run-index.ts';

/** Where runs are recorded unless `--run-dir` is given. */
export function runsRoot({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'runs');
}

/** Like `runsRoot`, but returns undefined where there is no home directory. */
export function knownRunsRoot({ system }: Pick<Context, 'system'>): string | undefined {
  const state = directoryOf(system, 'state');
  return state === undefined ? undefined : path.join(state, 'runs');
}

type Warned = Pick<Context, 'system' | 'notices' | 'globals'>;

/** Every run recorded on this machine, also elsewhere (`--run-dir`), except pruned ones: each once, the newest first. */
export async function recordedRuns(context: Warned): Promise<FoundRuns> {
  const { runs, unreadable } = await everyRun(context);
  const ids = runs.map(({ record }) => record.id);
  const isFirst = ({ record }: RunDirectory, index: number): boolean => ids.indexOf(record.id) === index;
  return { runs: runs.filter(isFirst).filter(({ record }) => record.pruned_at === undefined), unreadable };
}

/** Like `recordedRuns`, with pruned runs. Each record that cannot be read is left out, with a warning. */
export async function everyRun(context: Warned): Promise<FoundRuns> {
  const root = knownRunsRoot(context);
  const found = root === undefined ? [] : await Promise.all([listRuns(root), indexedRuns(root, () => true)]);
  const runs = newestFirst(found.flatMap((each) => each.runs));
  const ids = new Set(runs.map(({ record }) => record.id));
  // A run that was moved into the state directory is still indexed where it was.
  const unreadable = found.flatMap((each) => each.unreadable).filter(({ run }) => !ids.has(run ?? ''));
  for (const { error } of unreadable) warnOf(context, LEFT_OUT, error);
  return { runs, unreadable };
}

const LEFT_OUT = 'a run is left out';

/** The run that an argument names by id or directory; undefined for a job's. @throws SvcError `not_found`, `config` */
export async function namedRun(
  context: Pick<Context, 'system' | 'settings'>,
  argument: string,
): Promise<RunDirectory | undefined> {
  const run = await recordedRun(context, argument);
  if (run) requireHere(context, run);
  return run;
}

/** @throws SvcError `config` for a run that sent something to another service */
export function requireHere(context: Pick<Context, 'settings'>, run: RunDirectory): void {
  // No service has anything of a run that sent nothing.
  if (isUntouched(run.record)) return;
  const here = serviceOf(context);
  if (run.record.base_url === here || run.record.also_at?.includes(here)) return;
  throw new SvcError('config', `${run.record.id} is a run at ${run.record.base_url}, not at ${here}`, {
    hint: placeHint(context, run.record),
    facts: { run: run.record.id, base_url: run.record.base_url, profile: run.record.profile },
  });
}

function placeHint({ settings }: Pick<Context, 'settings'>, { profile, base_url: address }: RunRecord): string {
  if (profile !== settings.profile.value) return `Choose its profile: --profile ${profile}`;
  return address === 'sandbox' ? 'Add --sandbox.' : `Give its address: --base-url ${address}`;
}

/** Like `namedRun`, for commands that need no service: the run may be of any address. */
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
    hint: 'Name its directory, or one of the runs recorded here.',
    next: ['au', 'runs'],
  });
}

/** The run with this id or, where there is none, in the directory of this name. */
async function runCalled(root: string, name: string): Promise<RunDirectory | undefined> {
  const run = await RunDirectory.open(path.join(root, name));
  if (run?.record.id === name) return run;
  const { runs } = await listRuns(root);
  return runs.find(({ record }) => record.id === name) ?? run;
}

export function jobsOf({ parts }: Pick<RunRecord, 'parts'>): string[] {
  return parts.flatMap(({ job }) => job ?? []);
}
