import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand, Preview, type PreviewRequest } from '../../cli/app/command.ts';
import { noteNext, option } from '../../cli/app/hint.ts';
import { argument, flag, type Input, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { openSummary, summaryParameter } from '../../cli/app/summary.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { checkedFileView, copyRequestFile, openRequestFile } from '../request/open-request-file.ts';
import { finishRun } from '../results/deliver.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { showResults, type Submission, submissionOf, submissionView } from '../results/submission.ts';
import { cycleName } from '../run/cycle-name.ts';
import { describeRun } from '../run/describe-run.ts';
import { eventsParameter, eventsWords, listenForJobs } from '../run/events-option.ts';
import { execParameter, runExec } from '../run/exec-option.ts';
import { RunFinder } from '../run/find-run.ts';
import { statusOf } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { decideSubmission, uploadSubmitted } from '../run/submit-file.ts';
import { noUnrecordedJobsParameter, otherJobParameter } from '../run/unrecorded-option.ts';
import { holdRun, resumable } from '../run/verdict.ts';
import { checkWaitOptions } from '../run/wait-options.ts';

const parameters = {
  file: argument('<file|->', 'a request file, or - for standard input', text),
  wait: flag('--wait', 'wait for the results, download and summarize them'),
  out: value('--out <file>', 'results file (default: <file>.results.csv)', text),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'check the file and show what would be sent'),
  cycle: value('--cycle <name>', 'name of this refresh, such as 2026-12', cycleName),
  adopt: value('--adopt <run>', 'with --cycle: take in this run of the same file', text),
  onlyNew: flag('--only-new', 'with --cycle: only rows that no other run of it has'),
  also: flag('--also', 'with --cycle: all rows (some are billed again)'),
  again: flag('--again', 'submit the file again (billed again)'),
  noUnrecordedJobs: noUnrecordedJobsParameter,
  otherJob: otherJobParameter,
  tenant: value('--tenant <id>', 'tenant of the key, for a key that cannot read it', text),
  runDir: value('--run-dir <dir>', 'where to record the run (default: state directory)', text),
  failOn: failOnParameter,
  events: eventsParameter,
  exec: execParameter,
  summary: summaryParameter,
} as const;

type SubmitInput = Input<typeof parameters>;

export const submit = defineCommand({
  description:
    "No job is created for an invalid file, and nothing is billed twice: submitting a file again resumes its run or shows its results, and within a --cycle each row is sent once. To start another run, name a new cycle, or give --again. A production job takes up to seven days; interrupt the wait, and continue with 'svc au wait'.",
  details:
    'For 7 days after its run completed, submitting a file again shows its results (status already_submitted). Later, --cycle or --again is required to start another run. Within a cycle each row, known by token and merchant, is billed once, in whatever file it comes: a file that shares rows with other runs of the cycle is refused, and --only-new submits the others, or nothing (status nothing_new). Results of tokens.csv are written to tokens.results.csv unless --out names a file, also when they are downloaded later. --no-unrecorded-jobs is for a key that no other system uses; --other-job names an exception. The command of --exec is run again by the next sync or wait if it fails. --events takes a host too: the name that senders use, such as that of a tunnel. --summary defaults to the file that GITHUB_STEP_SUMMARY names.',
  examples: [
    ['svc au submit tokens.csv --wait', 'from the file to the results'],
    ['svc au submit tokens.csv --cycle 2026-12', 'the same file each month, safe to run again'],
    ['svc au submit more.csv --cycle 2026-12 --only-new', 'the rows that this month does not have yet'],
    ['make-tokens | svc au submit - --wait --out results.csv --fail-on err', 'in a pipeline'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [
    3,
    [6, 'submitted before, or shares rows with other runs of the cycle'],
    9,
    [10, 'the job failed, or --fail-on was met'],
    [11, 'still pending; the command that continues the wait is printed'],
    12,
    13,
    130,
  ],
  changes: true,
  fields: [...new Set([...submissionView.fields, ...checkedFileView.fields])],
  parameters,
  async run(context, input) {
    if (input.dryRun && context.globals.curl) return new Preview(await firstRequest(context, input));
    return submitFile(context, input);
  },
  request: firstRequest,
});

/** Checks the file and returns the first request of a run. */
async function firstRequest(context: Context, input: SubmitInput): Promise<PreviewRequest> {
  checkOptions(input);
  await openRequestFile(context, input.file);
  return (await import('../../client/api/resources.ts')).createJobRequest();
}

/**
 * Submits a request file as jobs, and with `--wait` also gets the results. Submitting the same file again resumes its
 * run.
 */
async function submitFile(context: Context, input: SubmitInput): Promise<void> {
  checkOptions(input);
  const print = await recordPrinter(context, submissionView);
  const summarize = await openSummary(context, input.summary);
  const file = input.dryRun
    ? await openRequestFile(context, input.file)
    : await copyRequestFile(context, input.file, input.runDir);
  const finder = new RunFinder(context, input, file);
  const decided = await decideSubmission(context, finder, input);
  if (decided.kind === 'nothing new')
    return print({ run: null, status: 'nothing_new', file: file.name, rows: 0, job: null, jobs: [] });
  if (decided.kind === 'declined') return context.notices.note('nothing was submitted');
  if (decided.kind === 'planned') return undefined;
  const { choice, out } = decided;
  const wakeUpFor = input.events && (await listenForJobs(context, input.events));
  const { run, release } = await finder.findOrBegin(choice);
  const wasCompleted = statusOf(run.record) === 'completed';
  const show = (submission: Submission): Promise<void> =>
    print(wasCompleted ? { ...submission, status: 'already_submitted' } : submission);
  const work = async (): Promise<void> => {
    const holding = holdRun(context, run, async () => {
      finder.update(run, out);
      release();
      await resumable(resumeWords(run, input), run.record.id, uploadSubmitted(context, run));
      const how = { wakeUp: wakeUpFor?.(run.record), exec: input.exec };
      if (input.wait || (wasCompleted && input.out !== undefined))
        await finishRun(context, run, { out, force: input.force }, how);
      return input.exec === undefined ? undefined : runExec(context, run, input.exec);
    });
    const failure = await holding.finally(release);
    if (input.wait) await showResults(context, show, run.record, failure ? undefined : input.failOn);
    if (failure) throw failure;
    if (!input.wait) await show(submissionOf(run.record));
  };
  await summarize(work, (error) => describeRun(context, run, error));
  if (choice.run !== undefined) await finder.reportLeftOut(run);
  if (!input.wait && !wasCompleted) noteNext(context, 'to wait for the results', ['au', 'wait', run.name]);
}

function checkOptions(input: SubmitInput): void {
  checkWaitOptions(input);
  const { adopt, cycle, again, onlyNew, also } = input;
  const problems: [boolean, string, string][] = [
    [adopt !== undefined && cycle === undefined, '--adopt needs --cycle', 'Name the cycle with --cycle.'],
    [adopt !== undefined && again, '--adopt and --again exclude each other', 'Give one of them.'],
    [(onlyNew || also) && cycle === undefined, '--only-new and --also need --cycle', 'Name the cycle with --cycle.'],
    [
      [onlyNew, also, again].filter(Boolean).length > 1,
      '--only-new, --also and --again exclude each other',
      'Give one of them.',
    ],
  ];
  for (const [isWrong, message, hint] of problems) if (isWrong) throw new SvcError('usage', message, { hint });
}

/** Returns the command that continues an interrupted upload. */
function resumeWords(run: RunDirectory, input: SubmitInput): string[] {
  const { wait, out, force, failOn, events, exec, summary } = input;
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
