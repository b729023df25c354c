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
  wait: flag('--wait', 'wait until it is done, download the results and summarize them'),
  out: value(
    '--out <file>',
    'where to write the results, now or when they are downloaded later; default: <file> with .results.csv appended',
    text,
  ),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'check the file and show what would be done; nothing is sent'),
  cycle: value(
    '--cycle <name>',
    'name of this refresh, such as 2026-12: a file is submitted once in each cycle, however often this is run',
    cycleName,
  ),
  adopt: value('--adopt <run>', 'with --cycle: use this run of the same file, started without a cycle', text),
  onlyNew: flag('--only-new', 'with --cycle: submit only the rows that no other run of the cycle has'),
  also: flag('--also', 'with --cycle: submit all rows, also those that other runs of the cycle have (billed again)'),
  again: flag('--again', 'submit the file again, even if it was submitted before (billed again)'),
  noUnrecordedJobs: noUnrecordedJobsParameter,
  otherJob: otherJobParameter,
  tenant: value('--tenant <id>', 'tenant of the key, where the key cannot read it and the run depends on it', text),
  runDir: value('--run-dir <dir>', 'where to record the run (default: the state directory)', text),
  failOn: failOnParameter,
  events: eventsParameter,
  exec: execParameter,
  summary: summaryParameter,
} as const;

type SubmitInput = Input<typeof parameters>;

export const submit = defineCommand({
  description:
    'No job is created for an invalid file, and nothing is paid for twice: submitting the same file again resumes its run, or shows its results within 7 days of their completion (status already_submitted); after that, --cycle or --again is needed to start another run (exit code 6). Within a cycle each row, known by token and merchant, is paid for once, whatever file it is in: a file that shares rows with other runs of the cycle ends with exit code 6, and --only-new submits the others, or nothing (status nothing_new). A production job takes up to seven days: the wait can be interrupted and resumed with svc au wait.',
  examples: [
    ['svc au submit tokens.csv --wait', 'from the file to the results'],
    ['svc au submit tokens.csv', 'submit it without waiting'],
    ['svc au submit tokens.csv --cycle 2026-12', 'the same file each month, safe to run again'],
    ['svc au submit more.csv --cycle 2026-12 --only-new', 'the rows that this month does not have yet'],
    ['make-tokens | svc au submit - --wait --out results.csv --fail-on err', 'in a pipeline'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [3, 6, 9, 10, 11, 12, 13, 130],
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
