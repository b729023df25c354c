import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { statusOf } from '../run/record.ts';
import { runsRoot } from '../run/recorded-runs.ts';
import { FileSubmission } from '../send/submit-file.ts';
import { worstOf } from '../run/verdict.ts';
import { prepareAside, reportNewRows } from './new-rows.ts';
import {
  isChanged,
  isPrepared,
  notBegun,
  openExport,
  placeOf,
  preparedRequest,
  submittedRequest,
} from './prepare-step.ts';
import { RefreshDirectory, runHere } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { requireTenant } from './refresh-tenant.ts';
import { type PrintRow, RequestSteps, submissionOf } from './request-steps.ts';

/**
 * Takes an export through all steps of a cycle. The same command goes on with the step that was not completed. An
 * earlier request of the cycle that is not completed goes on first, without a wait.
 * @throws SvcError of the step that ended it
 */
export async function refreshCycle(context: Context, input: RefreshInput, print: PrintRow): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  const work = async (): Promise<void> => {
    await requireRuns(context, directory);
    const { export: typed } = input;
    const exported = typed === undefined ? undefined : await openExport(context, typed);
    const isOther = isChanged(directory, exported, input);
    const newRows = isOther ? await reportNewRows(context, directory, exported, input) : undefined;
    const place = isOther
      ? await submittedRequest(context, directory, input)
      : await preparedRequest(context, directory, input, exported);
    const behind = await finishEarlier(context, directory, place, input);
    await new RequestSteps(context, directory, place, input, newRows).finish(print);
    if (behind) throw behind;
  };
  await heldAsPending(directory.hold(work));
}

/** Shows what a refresh would submit. Nothing is written and nothing is sent. */
export async function planRefresh(context: Context, input: RefreshInput): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  directory.read();
  await requireRuns(context, directory);
  const { export: typed } = input;
  const exported = typed === undefined ? undefined : await openExport(context, typed);
  if (isChanged(directory, exported, input)) {
    await reportNewRows(context, directory, exported, input, true);
    context.notices.note('dry run: nothing was sent');
    return;
  }
  const place = placeOf(directory, exported, input);
  const { request } = directory.filesOf(place);
  const known = directory.requests[place];
  let path: string | undefined;
  if (!known) directory.requireFree(place);
  if (!isPrepared(known, exported, input)) {
    if (typed === undefined) throw notBegun(directory);
    path = await prepareAside(context, directory, typed, exported, input);
  }
  const file = await openRequestFile(context, request, path);
  const checkTenant = (tenant: string): Promise<void> => requireTenant(context, directory, tenant, input.again);
  const submitting = { ...submissionOf(request, input, { wait: false, dryRun: true }), checkTenant };
  const decided = await new FileSubmission(context, file, submitting).decide();
  if (decided.kind === 'nothing new') context.notices.note('dry run: no row is new, so nothing would be submitted');
}

/**
 * Checks that the state directory has every run that the cycle's record names. Machines that share a ledger need no run of
 * another machine, because the ledger knows what was sent. Otherwise a missing run may be all that knew it.
 * @throws SvcError `outcome_unknown`
 */
async function requireRuns(context: Context, { requests, record, path: directory }: RefreshDirectory): Promise<void> {
  const { isShared } = new CommandLedger(context);
  for (const request of requests) {
    const { run: name } = request;
    if (name === undefined || isShared || (await runHere(context, name)) !== undefined) continue;
    throw new SvcError(
      'outcome_unknown',
      `outcome unknown: ${record} names ${name}, which ${runsRoot(context)} does not contain; nothing was submitted`,
      {
        hint: `The rows of that run may have been submitted already. Restore the state directory that has it, or name it with SVC_STATE_DIR. If it is lost, see which jobs the service has; only if you accept that rows are billed again, move ${directory} away and run the same command.`,
        next: ['au', 'jobs'],
        retryable: false,
        facts: { file: record, run: name },
      },
    );
  }
}

/** Returns `pending` for a directory in which another process works. */
async function heldAsPending(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isSvcError(error, 'config') || error.facts?.['held_by'] === undefined) throw error;
    throw error.with({ code: 'pending' });
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
    const recorded = await runHere(context, run);
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
