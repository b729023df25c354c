import path from 'node:path';
import { SvcError } from '../errors.ts';
import { withLock } from '../lock.ts';
import { requireKept } from '../runs/abandon.ts';
import { beginRun, findOutdated, findRun, isOf, type NewRun } from '../runs/find-run.ts';
import { makeDirectory, RunDirectory } from '../runs/run-directory.ts';
import { removeUnborn } from '../runs/run-list.ts';
import type { Context } from './context.ts';
import type { RequestFile } from './request-file.ts';
import { runsRoot, serviceOf } from './runs.ts';

/** Which run of a file is meant. */
export interface RunChoice {
  /** A new one, whatever is recorded. */
  readonly again: boolean;
  /** Where it is recorded; undefined for the state directory. */
  readonly runDir: string | undefined;
}

/** What a run of this file would begin with. */
export function newRun(context: Context, { name, path: file, lasts, check }: RequestFile): NewRun {
  return {
    profile: context.settings.profile.value,
    baseUrl: serviceOf(context),
    name,
    path: lasts ? file : undefined,
    check,
    now: context.clock.now(),
  };
}

/**
 * The run of this very file that is recorded already.
 * @throws SvcError `altered` when a --run-dir holds the run of another file, `usage` when the run was abandoned
 */
export function knownRun(
  context: Context,
  { again, runDir }: RunChoice,
  asked: NewRun,
): RunDirectory | undefined {
  if (again) return undefined;
  const run = runDir === undefined ? findRecorded(context, asked) : openRecorded(runDir, asked);
  if (run) requireKept(run);
  return run;
}

function findRecorded(context: Context, asked: NewRun): RunDirectory | undefined {
  return findRun(runsRoot(context), asked, (damaged) => context.notices.warn(damaged.message));
}

/** In a --run-dir nothing else may be. */
function openRecorded(runDir: string, asked: NewRun): RunDirectory | undefined {
  const run = RunDirectory.open(runDir);
  if (!run || isOf(run.record, asked)) return run;
  throw new SvcError('altered', `the run in ${runDir} is of another file, or the file has changed since`, {
    hint: 'Give the file that the run was begun with, or another --run-dir for a run of its own.',
    facts: { run: run.record.id, recorded_sha256: run.record.input.sha256, sha256: asked.check.sha256 },
  });
}

/** Two terminals that begin the same file at once begin one run: the second one finds it. */
export async function beginOrFind(context: Context, choice: RunChoice, asked: NewRun): Promise<RunDirectory> {
  const { runDir } = choice;
  const root = runDir ?? runsRoot(context);
  makeDirectory(root);
  return withLock(path.join(root, 'begin.lock'), context.system, () => {
    const found = knownRun(context, choice, asked);
    if (found) return found;
    if (runDir === undefined) {
      removeUnborn(root);
      tellOutdated(context, findOutdated(root, asked));
    }
    return beginRun((id) => runDir ?? path.join(root, id), asked);
  });
}

function tellOutdated({ notices }: Context, run: RunDirectory | undefined): void {
  if (run)
    notices.warn(
      `${run.record.input.name} has changed since run ${run.record.id} was begun, which is not done; this is a run of its own`,
    );
}
