import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { runExecLine } from '../exec-line.ts';
import { openRequests } from './open-cycles.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import type { Todo } from './todo.ts';

/**
 * Runs the command of `--exec` for the new tokens of a cycle, unless it succeeded with this very file before, or a request
 * of the cycle is open. Its standard input is what the refresh prints, as JSON. Its output goes to stderr.
 * @returns the error if the command fails, or is due from an earlier refresh and was not typed again
 */
export async function applyTodo(
  context: Context,
  directory: RefreshDirectory,
  { replace, update }: Todo,
  row: object,
  { exec, again }: RefreshInput,
): Promise<SvcError | undefined> {
  const { steps } = directory;
  if ((exec === undefined && steps.exec === undefined) || (await openRequests(context, directory)) > 0)
    return undefined;
  const sha256 = await directory.hash(replace);
  if (directory.applied?.sha256 === sha256) {
    if (steps.exec !== undefined) directory.noteApplied(directory.applied);
    if (exec !== undefined)
      context.notices.note(`--exec has nothing to do: ${replace} was applied at ${directory.applied.at}`);
    return undefined;
  }
  if (exec === undefined) return stillDue(replace, again);
  const added = {
    SVC_CYCLE: directory.cycle,
    SVC_REPLACE: directory.resolve(replace),
    SVC_UPDATE: directory.resolve(update),
  };
  const failure = await runExecLine(context, exec, row, added);
  if (failure !== undefined)
    return new SvcError('local', failure, {
      hint: `${replace} is written. Fix the command, and run the refresh again, which runs it again:`,
      next: again,
    });
  directory.noteApplied({ sha256, at: new Date(context.clock.now()).toISOString() });
  return undefined;
}

/** Tells whether the command of `--exec` has to run for the new tokens of a cycle. */
export async function isDue(
  context: Context,
  directory: RefreshDirectory,
  { replace }: Todo,
  { exec }: Pick<RefreshInput, 'exec'>,
): Promise<boolean> {
  if (exec === undefined || (await openRequests(context, directory)) > 0) return false;
  return directory.applied?.sha256 !== (await directory.hash(replace));
}

/** Returns the error for new tokens that an earlier refresh did not apply, because its command failed or a threshold was met. */
function stillDue(replace: string, again: readonly string[]): SvcError {
  return new SvcError(
    'local',
    `${replace} is not applied: the command of --exec has not succeeded with it, and is due`,
    {
      hint: 'Run the refresh with it again. If the new tokens were applied in another way, --exec true records that.',
      next: [...again, '--exec', '<command>'],
      facts: { file: replace },
    },
  );
}
