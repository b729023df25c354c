import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand, type PreviewRequest } from '../../cli/app/command.ts';
import { noteNext, option } from '../../cli/app/hint.ts';
import { argument, flag, type Input, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { openSummary, summaryParameter } from '../../cli/app/summary.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { countText } from '../../cli/output/time.ts';
import { finishRun } from '../wait/deliver.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { checkDestination } from '../results/merge.ts';
import { showResults, type Submission, submissionOf, submissionView } from '../results/submission.ts';
import { describeRun } from '../wait/describe-run.ts';
import { eventsParameter, eventsWords, listenForJobs } from '../wait/events-option.ts';
import { execParameter, runExec } from '../wait/exec-option.ts';
import { requestToUpload } from '../run/part-source.ts';
import { isUntouched, type RunRecord, statusOf } from '../run/record.ts';
import { laterRun } from '../run/find-run.ts';
import { namedRun, requireHere } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { failedRunError } from '../run/run-errors.ts';
import { resultsPath } from '../run/run-view.ts';
import { applyToRun } from '../run/run.ts';
import { noUnrecordedJobsParameter, onlyRecordedParameter } from '../send/recorded-option.ts';
import { confirmRows, partsToUpload, pollEarlierJobs, requireJoinedFiles, uploadRun } from '../send/upload-run.ts';
import { holdRun, resumable } from '../run/verdict.ts';
import { checkWaitOptions } from '../wait/wait-options.ts';

const parameters = {
  run: argument('<run>', 'id or directory of a run', text),
  wait: flag('--wait', 'wait for the results, download and summarize them'),
  out: writing(value('--out <file>', 'where to write the results, in place of the earlier file', text)),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'show what would be uploaded; nothing is sent'),
  onlyRecorded: onlyRecordedParameter,
  noUnrecordedJobs: noUnrecordedJobsParameter,
  failOn: failOnParameter,
  events: eventsParameter,
  exec: execParameter,
  summary: summaryParameter,
} as const;

type ResumeInput = Input<typeof parameters>;

export const resume = defineCommand({
  description:
    'Uploads from the copy of the request file that the run keeps, so that the file itself is not needed. Nothing that the service may already have is sent again.',
  details:
    'A run whose file came through a pipe can be resumed too. Parts whose job failed are left to svc au submit, which sends them again. Runs of earlier versions have no copy: submit their file again. The command of --exec is run again by the next sync or wait if it fails. --events takes a host too: the name that senders use, such as that of a tunnel. --summary defaults to the file that GITHUB_STEP_SUMMARY names.',
  examples: [
    ['svc au resume run-20260131-0a1b2c3d-4e5f', 'upload what is left'],
    ['svc au resume run-20260131-0a1b2c3d-4e5f --wait', 'and on to the results'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [
    3,
    [6, 'the run has no copy of its file, or a later run of the file exists'],
    9,
    [10, 'the job failed, or --fail-on was met'],
    [11, 'still pending'],
    12,
    130,
  ],
  changes: true,
  fields: submissionView.fields,
  parameters,
  async run(context, input) {
    checkWaitOptions(input);
    const print = await recordPrinter(context, submissionView);
    const run = await runToResume(context, input.run);
    const { record } = run;
    const out = input.out ?? (input.wait ? resultsPath(context, record) : (record.out ?? 'results.csv'));
    if (input.wait || input.out !== undefined) await checkDestination(context, run, { out, force: input.force });
    const parts = partsToUpload(record.parts).filter(({ joined }) => joined === undefined);
    // A run of an early version may have lost its file, which must be reported before any question.
    if (parts.length > 0) await requestToUpload(context, run);
    const rows = parts.reduce((sum, part) => sum + part.rows, 0);
    if (input.dryRun) {
      const plan = parts.length === 0 ? 'nothing' : `${countText(rows, 'row')} in ${countText(parts.length, 'job')}`;
      context.notices.note(`dry run: nothing was sent; it would upload ${plan}`);
      return print(submissionOf(record, 'record'));
    }
    if (parts.length > 0 && !(await confirmRows(context, rows, parts.length)))
      return context.notices.note('nothing was submitted');
    return resumeRun(context, run, input, { print, out });
  },
  async request(context, input): Promise<PreviewRequest> {
    await runToResume(context, input.run);
    return (await import('../../client/api/resources.ts')).createJobRequest();
  },
});

interface Shown {
  readonly print: (submission: Submission) => Promise<void>;
  readonly out: string;
}

async function resumeRun(
  context: Context,
  run: RunDirectory,
  input: ResumeInput,
  { print, out }: Shown,
): Promise<void> {
  const { wait, exec, force } = input;
  const summarize = await openSummary(context, input.summary);
  const wakeUpFor = input.events && (await listenForJobs(context, input.events));
  const work = async (): Promise<void> => {
    const { basis, failure } = await holdRun(context, run, async () => {
      await requireResumable(context, run);
      takeUp(context, run.record, input);
      run.save();
      const poll = pollEarlierJobs(context, run);
      await resumable(again(run, input), run.record.id, uploadRun(context, run));
      if (wait) await requireJoinedFiles(context, run);
      if (wait) await finishRun(context, run, { out, force }, { wakeUp: wakeUpFor?.(run.record), exec });
      const isDone = statusOf(run.record) === 'completed';
      return {
        basis: isDone ? ('results' as const) : await poll(),
        failure: exec === undefined ? undefined : await runExec(context, run, exec),
      };
    });
    const { record } = run;
    if (wait) await showResults(context, print, record, failure ? undefined : input.failOn);
    if (failure) throw failure;
    if (wait) return;
    await print(submissionOf(record, basis));
    if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
    if (statusOf(record) !== 'completed') noteNext(context, 'to wait for the results', ['au', 'wait', run.name]);
  };
  await summarize(work, (error) => describeRun(context, run, error));
}

async function runToResume(context: Context, name: string): Promise<RunDirectory> {
  const run = await namedRun(context, name);
  if (run) {
    await requireResumable(context, run);
    return run;
  }
  throw new SvcError('not_found', 'this names no run, and a job by itself cannot be resumed', {
    hint: 'Name one of the runs recorded here:',
    next: ['au', 'runs'],
  });
}

/**
 * Checks that a run may be resumed here. Another process can change this until the run is locked.
 * @throws SvcError `usage` for an abandoned run, `config` for a run of another service, `conflict` for a run that sent
 *   nothing if a later run of its file exists
 */
async function requireResumable(context: Context, run: RunDirectory): Promise<void> {
  const { record, name } = run;
  requireHere(context, run);
  if (statusOf(record) === 'abandoned')
    throw new SvcError('usage', `${record.id} was abandoned`, {
      hint: 'To resume it, undo that first:',
      next: ['au', 'abandon', name, '--undo'],
      facts: { run: record.id, abandoned_at: record.abandoned_at },
    });
  if (isUntouched(record)) await requireNotReplaced(context, run);
}

/** Refuses a run that sent nothing if resuming it could bill its rows twice. Otherwise any profile may take it over. */
async function requireNotReplaced(context: Context, run: RunDirectory): Promise<void> {
  const { record, name } = run;
  if ((record.base_url === 'sandbox') !== (serviceOf(context) === 'sandbox'))
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

/** Records the options of this command. Assigns a run that sent nothing to the current profile and address. */
function takeUp(context: Context, record: RunRecord, input: ResumeInput): void {
  const profile = context.settings.profile.value;
  const baseUrl = serviceOf(context);
  const { name } = record.input;
  const isElsewhere = record.base_url !== baseUrl || record.profile !== profile;
  if (isUntouched(record) && isElsewhere)
    applyToRun(record, { kind: 'adopted', profile, baseUrl, name, tenant: undefined, cycle: undefined });
  const { out = record.out ?? 'results.csv', onlyRecorded, noUnrecordedJobs } = input;
  applyToRun(record, {
    kind: 'submitted',
    out: path.resolve(out),
    baseUrl,
    path: undefined,
    cycle: undefined,
    onlyRecorded: onlyRecorded || noUnrecordedJobs || record.no_unrecorded_jobs === true,
  });
}

/** Returns the command that continues an interrupted upload. */
function again(run: RunDirectory, { wait, out, force, failOn, events, exec, summary }: ResumeInput): string[] {
  return [
    ...run.resumeWords,
    ...(wait ? ['--wait'] : []),
    ...option('--out', out),
    ...(force ? ['--force'] : []),
    ...option('--fail-on', failOn?.words),
    ...option('--events', eventsWords(events)),
    ...option('--exec', exec),
    ...option('--summary', summary),
  ];
}
