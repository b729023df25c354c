import type { Context } from '../../cli/app/command.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { countText, formatDuration } from '../../cli/output/time.ts';
import { checkedFileRow, checkedFileView } from '../request/open-request-file.ts';
import { checkDestination } from '../results/merge.ts';
import type { Choice, RunFinder } from './find-run.ts';
import { reportFirstOfCycle } from './first-of-cycle.ts';
import { isUntouched, type RunRecord, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { isOnThisMachine } from './run-view.ts';
import { confirmRows, partsToUpload, uploadRun } from './upload-run.ts';

/** What the operator asked for. */
interface Submitting {
  /** The request file as typed. */
  readonly file: string;
  /** Where to write the results. */
  readonly out: string | undefined;
  readonly wait: boolean;
  readonly force: boolean;
  readonly cycle: string | undefined;
  readonly dryRun: boolean;
}

/** The rows to send and the file for their results, or why nothing is sent. */
export type Decision =
  | { readonly kind: 'send'; readonly choice: Choice; readonly out: string }
  | { readonly kind: 'nothing new' }
  | { readonly kind: 'planned' }
  | { readonly kind: 'declined' };

/**
 * Decides what to send of a request file, and asks the operator before it costs money. A dry run prints the plan.
 * @throws SvcError as `RunFinder.choose`, and `usage` for a result file that exists
 */
export async function decideSubmission(context: Context, finder: RunFinder, input: Submitting): Promise<Decision> {
  const choice = await finder.choose();
  const { run: known } = choice;
  const out = input.out ?? recordedOut(known) ?? defaultOut(input.file);
  if (input.wait || input.out !== undefined) await checkDestination(known?.record, { out, force: input.force });
  finder.report(choice, input.wait);
  if (choice.isNothingNew) return { kind: 'nothing new' };
  if (input.cycle !== undefined) await reportFirstOfCycle(context, input.cycle, choice);
  if (input.dryRun) {
    await showPlan(context, choice);
    return { kind: 'planned' };
  }
  return (await confirmUpload(context, choice)) ? { kind: 'send', choice, out } : { kind: 'declined' };
}

/**
 * Uploads what is left of a submitted run, which the caller must have locked. Says what the run is if nothing is left.
 * With `pollOnce`, an upload in doubt is polled once, without waiting for its end.
 */
export async function uploadSubmitted(context: Context, run: RunDirectory, { pollOnce = false } = {}): Promise<void> {
  const { record } = run;
  if (statusOf(record) === 'completed')
    return context.notices.note(
      `this file was already submitted ${submittedAt(context, record)} (${record.id}, completed); nothing was sent`,
    );
  if (record.parts.some(({ job }) => job !== undefined)) context.notices.note(`resuming ${record.id}`);
  await uploadRun(context, run, { ...RETRIES, isCompared: true, pollOnce });
}

/** Returns the recorded output path if its directory exists here, because the run may come from another machine. */
function recordedOut(run: RunDirectory | undefined): string | undefined {
  const out = run?.record.out;
  return out !== undefined && isOnThisMachine(out) ? out : undefined;
}

function defaultOut(file: string): string {
  return file === '-' ? 'results.csv' : file.replace(/(\.csv)?$/i, '.results.csv');
}

/** Asks for confirmation before billable rows are sent. A fully uploaded run costs nothing more. */
async function confirmUpload(context: Context, { file: { check }, run: known }: Choice): Promise<boolean> {
  const parts = known ? partsToUpload(known.record.parts, RETRIES) : check.parts;
  if (parts.length === 0) return true;
  const rows = known ? parts.reduce((sum, part) => sum + part.rows, 0) : check.rows;
  return confirmRows(context, rows, parts.length);
}

/** Failed parts get another job when the operator submits the file again. */
const RETRIES = { retriesFailed: true };

/** Describes when a run began and in which cycle. */
function submittedAt({ clock }: Context, { created_at: createdAt, cycle }: RunRecord): string {
  const time = `${formatDuration(Math.max(0, clock.now() - Date.parse(createdAt)))} ago`;
  return cycle === undefined ? time : `${time} in cycle ${cycle}`;
}

async function showPlan(context: Context, { file, run: known }: Choice): Promise<void> {
  const print = await recordPrinter(context, checkedFileView);
  await print(checkedFileRow(file.name, file.check));
  const { rows, parts } = file.check;
  const jobs = countText(parts.length, 'job');
  const isNew = known === undefined || isUntouched(known.record);
  const plan = isNew ? `it would create ${jobs} for ${countText(rows, 'row')}` : planFor(context, known);
  context.notices.note(`dry run: nothing was sent; ${plan}`);
}

function planFor(context: Context, { record }: RunDirectory): string {
  const plan =
    statusOf(record) === 'completed'
      ? `the file was already submitted ${submittedAt(context, record)} (${record.id})`
      : `it would resume ${record.id}`;
  const isHere = record.profile === context.settings.profile.value && record.base_url === serviceOf(context);
  return isHere ? plan : `if this key belongs to the tenant of profile ${record.profile}, ${plan}`;
}
