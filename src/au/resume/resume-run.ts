import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { countText } from '../../cli/output/time.ts';
import { finishRun } from '../wait/deliver.ts';
import { checkDestination } from '../results/merge.ts';
import { showResults, type Submission, submissionOf, submissionView } from '../results/submission.ts';
import { describeRun } from '../wait/describe-run.ts';
import { openRunSummary } from '../run/own-requests.ts';
import { requestToUpload } from '../run/part-source.ts';
import { isForgotten } from '../run/part.ts';
import { isForgottenRun, isOfSandbox, isUntouched, type RunRecord, statusOf } from '../run/record.ts';
import { laterRun } from '../run/find-run.ts';
import { requireHere } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { failedRunError, forgottenRunError, pendingRunError } from '../run/run-errors.ts';
import { resultsPath, shownStatus } from '../run/run-view.ts';
import { applyToRun } from '../run/run.ts';
import { confirmRows, partsToUpload, pollEarlierJobs, requireJoinedFiles, uploadRun } from '../send/upload-run.ts';
import { holdRun, resumable } from '../run/verdict.ts';
import { continuingWords, keepingOptions, optionWords, waitingWords } from '../wait/wait-options.ts';
import type { ResumeInput } from './resume-parameters.ts';

/** Uploads what is left of a run and polls its jobs once, or waits for them with `--wait`. Then gets its results. */
export async function resumeNamedRun(context: Context, run: RunDirectory, input: ResumeInput): Promise<void> {
  const print = await recordPrinter(context, submissionView);
  await requireResumable(context, run);
  const { record } = run;
  const wasAbandoned = statusOf(record) === 'abandoned';
  const out = input.out ?? (input.wait ? resultsPath(context, record) : undefined);
  if (out !== undefined) await checkDestination(context, run, { out, force: input.force });
  const parts = partsToUpload(record.parts).filter(({ joined }) => joined === undefined);
  // A run that lost its file must be reported before any question.
  if (parts.length > 0) await requestToUpload(context, run);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  if (input.dryRun) {
    const plan = parts.length === 0 ? 'nothing' : `${countText(rows, 'row')} in ${countText(parts.length, 'job')}`;
    context.notices.note(`dry run: nothing was sent; it would upload ${plan}`);
    return print(submissionOf(record, 'record'));
  }
  if (parts.length > 0) await confirmRows(context, rows, parts.length);
  return resumeRun(context, run, input, { print, out, wasAbandoned });
}

interface Shown {
  readonly print: (submission: Submission) => Promise<void>;
  /** Where to write the results; undefined for the recorded file, or with the run if that cannot be written. */
  readonly out: string | undefined;
  /** Whether the run was abandoned when the operator named it. */
  readonly wasAbandoned: boolean;
}

async function resumeRun(
  context: Context,
  run: RunDirectory,
  input: ResumeInput,
  { print, out, wasAbandoned }: Shown,
): Promise<void> {
  const { wait, force } = input;
  const summarize = await openRunSummary(context, input.summary);
  const again = ['au', 'resume', run.name, ...optionWords(input)];
  const work = async (): Promise<void> => {
    const polled = await holdRun(context, run, async () => {
      await requireResumable(context, run);
      if (!wasAbandoned) requireKept(run);
      takeUp(context, run.record, input);
      run.save();
      const poll = pollEarlierJobs(context, run, { again: waitingWords(again) });
      await resumable(continuingWords(run, input), { run: run.record.id }, uploadRun(context, run));
      if (wait) await requireJoinedFiles(context, run, again);
      const seen = wait ? undefined : await poll();
      if (wait || isReady(run.record)) await finishRun(context, run, { out, force }, { wait, again });
      return seen;
    });
    const { record } = run;
    if (isForgottenRun(record)) context.notices.note(forgottenRunError(run).message);
    if (polled === undefined || statusOf(record) === 'completed')
      await showResults(context, print, record, input.failOn);
    else await print(submissionOf(record, polled));
    if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
    if (polled !== undefined && shownStatus(record) !== 'completed') throw pendingRunError(run, polled);
  };
  await summarize(
    () => keepingOptions(input, work()),
    (error) => describeRun(context, run, error),
  );
}

/**
 * Tells whether the results of a run can be collected without a wait: all its jobs are completed, apart from those that
 * the service has forgotten. Collecting then ends with an error that names these.
 */
function isReady({ parts }: RunRecord): boolean {
  const left = parts.filter((part) => !isForgotten(part));
  return left.length > 0 && left.every(({ state }) => state === 'completed' || state === 'downloaded');
}

/**
 * Checks that a run may be resumed here. Another process can change this until the run is locked.
 * @throws SvcError `config` for a run of another service, `conflict` for a run that sent
 *   nothing if a later run of its file exists
 */
async function requireResumable(context: Context, run: RunDirectory): Promise<void> {
  requireHere(context, run);
  if (isUntouched(run.record)) await requireNotReplaced(context, run);
}

/** Refuses a run that sent nothing if resuming it could bill its rows twice. Otherwise any profile may take it over. */
async function requireNotReplaced(context: Context, run: RunDirectory): Promise<void> {
  const { record, name } = run;
  if (isOfSandbox(record) !== (serviceOf(context) === 'sandbox'))
    throw new SvcError('config', `${record.id} was begun at ${record.base_url}; nothing was submitted`, {
      hint: 'A run of the embedded sandbox stays there. Submit its file:',
      next: run.submitWords,
      facts: { run: record.id, base_url: record.base_url },
    });
  const later = await laterRun(context, run);
  if (later === undefined) return;
  throw new SvcError('conflict', `${record.id} sent nothing, and ${later.id} of the same file was begun after it`, {
    hint: 'Nothing was submitted, since its rows could be paid for twice. Continue with the later run, or abandon this one.',
    next: ['au', 'status', later.id],
    alternatives: [['au', 'abandon', name]],
    facts: { run: record.id, later_run: later.id },
  });
}

/** Checks that nobody abandoned a run meanwhile. @throws SvcError `usage` */
function requireKept({ record, name, resumeWords }: RunDirectory): void {
  if (statusOf(record) !== 'abandoned') return;
  throw new SvcError('usage', `${record.id} was abandoned`, {
    hint: 'To go on with it after all, name it again. The results of what was uploaded can be downloaded as it is:',
    next: resumeWords,
    alternatives: [['au', 'download', name]],
    facts: { run: record.id, abandoned_at: record.abandoned_at },
  });
}

/** Records the options of this command. Assigns a run that sent nothing to the current profile and address. */
function takeUp(context: Context, record: RunRecord, input: ResumeInput): void {
  const profile = context.settings.profile.value;
  const baseUrl = serviceOf(context);
  const { name } = record.input;
  const isElsewhere = record.base_url !== baseUrl || record.profile !== profile;
  // Who names a run that was abandoned goes on with it.
  if (statusOf(record) === 'abandoned') applyToRun(record, { kind: 'resumed' });
  if (isUntouched(record) && isElsewhere)
    applyToRun(record, { kind: 'adopted', profile, baseUrl, name, tenant: undefined, cycle: undefined });
  const { out = record.out ?? 'results.csv', onlyRecorded } = input;
  applyToRun(record, {
    kind: 'submitted',
    out: path.resolve(out),
    baseUrl,
    path: undefined,
    cycle: undefined,
    onlyRecorded: onlyRecorded || record.no_unrecorded_jobs === true,
  });
}
