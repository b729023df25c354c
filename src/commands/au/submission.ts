import { needsFile, retryFailed, uploadParts } from '../../account-updater/advance.ts';
import { withResumeHint } from '../../account-updater/events.ts';
import { checkDestination } from '../../account-updater/merge.ts';
import { hasUnknown } from '../../account-updater/poll-parts.ts';
import { statusOf } from '../../account-updater/record.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import type { Context, PreviewRequest } from '../../app/command.ts';
import { noteNext } from '../../app/hint.ts';
import { recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { type RunChoice, RunOfFile } from './find-run.ts';
import { type EventsAddress, listenForJobs } from './options.ts';
import { showRun } from './progress.ts';
import { openRequestFile, type RequestFile } from './request-file.ts';
import { finishRun, showResults, submissionOf } from './run-summary.ts';
import { isOnThisMachine, serviceOf } from './runs.ts';
import { checkedFileRow, checkedFileView, type Submission, submissionView } from './view.ts';

/** What `svc au submit` takes. */
export interface SubmitInput extends RunChoice {
  readonly file: string;
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly failOn: 'err' | 'wrn' | undefined;
  /** Where events are listened for while it waits. */
  readonly events: EventsAddress | undefined;
}

/** From a request file to jobs, and with `wait` on to the results. The same file again goes on where it stopped. */
export async function submission(context: Context, input: SubmitInput): Promise<void> {
  checkOptions(input);
  const print = await recordPrinter(context, submissionView);
  const file = await openRequestFile(context, input.file);
  const finder = new RunOfFile(context, input, file);
  const known = await finder.find();
  const out = input.out ?? recordedOut(known) ?? defaultOut(input.file);
  if (input.wait || input.out !== undefined)
    await checkDestination(known?.record, { out, force: input.force });
  if (input.dryRun) return reportPlan(context, file, known);
  const nudge = input.events === undefined ? undefined : await listenForJobs(context, input.events);
  const run = known ?? (await finder.findOrBegin());
  const wasComplete = statusOf(run.record) === 'completed';
  await run.hold(context.system, async () => {
    finder.update(run, out);
    await goOn(context, run, file);
    if (input.wait || (wasComplete && input.out !== undefined))
      await finishRun(context, run, { out, force: input.force }, nudge?.(run.record));
  });
  const status = wasComplete ? { status: 'already_submitted' } : {};
  const shown = (submission: Submission): Promise<void> => print({ ...submission, ...status });
  if (input.wait) return showResults(context, shown, run.record, input.failOn);
  await shown(submissionOf(run.record));
  if (!wasComplete) noteNext(context, 'to wait for the results', { command: ['au', 'wait', run.name] });
}

/** The first request of a run, once the file is checked. */
export async function submissionRequest(context: Context, input: SubmitInput): Promise<PreviewRequest> {
  checkOptions(input);
  await openRequestFile(context, input.file);
  return (await import('../../api/resources.ts')).createJobRequest();
}

function checkOptions(input: SubmitInput): void {
  if (input.out === '-')
    throw new SvcError('usage', '--out takes a file here: standard output has the summary', {
      hint: "Give a file name, or take the results with 'svc au download <run> --out -'.",
    });
  checkChoice(input);
  if (input.wait) return;
  if (input.failOn !== undefined)
    throw new SvcError('usage', '--fail-on is about the results and needs --wait', { hint: 'Add --wait.' });
  if (input.events !== undefined)
    throw new SvcError('usage', '--events is about the wait and needs --wait', { hint: 'Add --wait.' });
}

function checkChoice({ adopt, cycle, again }: RunChoice): void {
  if (adopt === undefined) return;
  if (cycle === undefined)
    throw new SvcError('usage', '--adopt makes a run that of a cycle', { hint: 'Name it with --cycle.' });
  if (again)
    throw new SvcError('usage', '--adopt and --again exclude each other', { hint: 'Give one of them.' });
}

/** A run that was carried here may have its place on another machine. */
function recordedOut(run: RunDirectory | undefined): string | undefined {
  const out = run?.record.out;
  return out !== undefined && isOnThisMachine(out) ? out : undefined;
}

function defaultOut(file: string): string {
  return file === '-' ? 'results.csv' : file.replace(/(\.csv)?$/i, '.results.csv');
}

async function goOn(context: Context, run: RunDirectory, file: RequestFile): Promise<void> {
  const { record } = run;
  const status = statusOf(record);
  if (status === 'completed')
    return context.notices.note(
      `this file was submitted already, as ${record.id}, which is complete; --again submits it once more`,
    );
  if (record.parts.some(({ job }) => job !== undefined)) context.notices.note(`resuming ${record.id}`);
  const hasFailed = record.parts.some(({ state }) => state === 'failed');
  if (!hasFailed && !needsFile(record) && !hasUnknown(record)) return;
  const client = await context.client();
  await retryFailed(client, run);
  const upload = uploadParts(client, run, file.path, {
    onEvent: showRun(context, record),
  });
  await withResumeHint(run.submitCommand, record.id, upload);
}

async function reportPlan(
  context: Context,
  file: RequestFile,
  known: RunDirectory | undefined,
): Promise<void> {
  const print = await recordPrinter(context, checkedFileView);
  await print(checkedFileRow(file.name, file.check));
  const { rows, parts } = file.check;
  const jobs = parts.length === 1 ? 'one job' : `${parts.length} jobs`;
  const plan = known ? planFor(context, known) : `it would create ${jobs} for ${rows} rows`;
  context.notices.note(`dry run: nothing was sent; ${plan}`);
}

function planFor(context: Context, { record }: RunDirectory): string {
  const isComplete = statusOf(record) === 'completed';
  const plan = isComplete
    ? `the file was submitted already, as ${record.id}`
    : `it would resume ${record.id}`;
  const isHere = record.profile === context.settings.profile.value && record.base_url === serviceOf(context);
  return isHere ? plan : `if this key belongs to the tenant of profile ${record.profile}, ${plan}`;
}
