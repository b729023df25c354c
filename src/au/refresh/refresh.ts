import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { prepareExport } from '../request/prepare-export.ts';
import { openSpool } from '../results/deliver.ts';
import { statusOf } from '../run/record.ts';
import { recordedRun } from '../run/recorded-runs.ts';
import { decideSubmission } from '../run/submit-file.ts';
import { worstOf } from '../run/verdict.ts';
import { exclusionsOf, isPrepared, openExport, placeOf, preparedRequest, wordsOf } from './prepare-step.ts';
import { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { finderOf, isOnlyNew, type PrintRow, RequestSteps } from './request-steps.ts';

/**
 * Takes an export through all steps of a cycle. The same command goes on with the step that was not completed. An
 * earlier request of the cycle that is not completed goes on first, without a wait.
 * @throws SvcError of the step that ended it
 */
export async function refreshCycle(context: Context, input: RefreshInput, print: PrintRow): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  const work = async (): Promise<void> => {
    const place = await preparedRequest(context, directory, input);
    const behind = await finishEarlier(context, directory, place, input);
    await new RequestSteps(context, directory, place, input).finish(print);
    if (behind) throw behind;
  };
  await heldAsPending(directory.hold(work));
}

/** Shows what a refresh would submit. Nothing is written and nothing is sent. */
export async function planRefresh(context: Context, input: RefreshInput): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  directory.read();
  const exported = await openExport(context, input.export);
  const place = placeOf(directory, exported, input);
  const { request } = directory.filesOf(place);
  const known = directory.requests[place];
  let path: string | undefined;
  if (!known) directory.requireFree(place);
  if (!isPrepared(known, exported, input)) {
    path = await openSpool(context);
    await prepareExport(context, input.export, {
      how: input.how,
      maxRejects: input.maxRejects,
      exclusions: exclusionsOf(directory),
      names: { request: path, rejects: input.maxRejects && (await openSpool(context)) },
      path: exported?.path,
      force: true,
      words: wordsOf(input),
    });
  }
  const file = await openRequestFile(context, request, path);
  const finder = finderOf(context, file, { ...input, onlyNew: isOnlyNew(directory, place, input) }, true);
  const decided = await decideSubmission(context, finder, {
    file: request,
    out: undefined,
    wait: false,
    force: false,
    cycle: input.cycle,
    dryRun: true,
  });
  if (decided.kind === 'nothing new') context.notices.note('dry run: no row is new, so nothing would be submitted');
}

/** Returns `pending` for a directory in which another process works. */
async function heldAsPending(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isSvcError(error, 'config') || error.facts?.['held_by'] === undefined) throw error;
    const { message, hint, facts, retryable } = error;
    throw new SvcError('pending', message, { hint, facts, retryable });
  }
}

/** Goes on with requests that were submitted before and are not completed. Returns the worst reason why one is not. */
async function finishEarlier(
  context: Context,
  directory: RefreshDirectory,
  place: number,
  input: RefreshInput,
): Promise<SvcError | undefined> {
  const errors: SvcError[] = [];
  for (const [index, { run, next, export: typed }] of directory.requests.entries()) {
    if (index === place || run === undefined || next !== undefined) continue;
    // The operator decided that an abandoned run gets nothing more.
    const recorded = await recordedRun(context, run);
    if (recorded && statusOf(recorded.record) === 'abandoned') continue;
    const { request } = directory.filesOf(index);
    context.notices.note(`going on with ${request} of this cycle, made of ${typed}`);
    try {
      await new RequestSteps(context, directory, index, { ...input, wait: false }).finish(async () => undefined);
    } catch (error) {
      if (!isSvcError(error) || context.signal.aborted) throw error;
      errors.push(error);
      warnOf(context, request, error);
    }
  }
  return worstOf(errors);
}
