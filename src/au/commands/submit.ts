import { type Context, defineCommand, Preview } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument, flag, type Input, reading, suggesting, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { summaryParameter } from '../../cli/app/summary.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { acceptParameter } from '../request/accept-option.ts';
import { checkedFileView, copyRequestFile, openRequestFile } from '../request/open-request-file.ts';
import { finishRun } from '../wait/deliver.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { showResults, type Submission, submissionOf, submissionView } from '../results/submission.ts';
import { openRunSummary } from '../run/own-requests.ts';
import { cycleName } from '../run/cycle-name.ts';
import { describeRun } from '../wait/describe-run.ts';
import { isForgottenRun, statusOf } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { failedRunError, sendWords } from '../run/run-errors.ts';
import { confirmParameters, confirmWords, onlyRecordedParameter } from '../send/confirm-options.ts';
import { firstChange, firstRequest } from '../send/first-requests.ts';
import { type Decision, FileSubmission } from '../send/submit-file.ts';
import { pollEarlierJobs, requireJoinedFiles } from '../send/upload-run.ts';
import { holdRun, resumable } from '../run/verdict.ts';
import { checkWaitOptions, continuingWords, keepingOptions, optionWords, waitingWords } from '../wait/wait-options.ts';

const parameters = {
  file: reading(argument('<file|->', 'a request file, or - for standard input', text), ['.csv']),
  wait: flag('--wait', 'wait for the results, download and summarize them'),
  out: writing(value('--out <file>', 'results file (default: <file>.results.csv)', text)),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'check the file and show what would be sent'),
  cycle: suggesting('cycle', value('--cycle <name>', 'name of this refresh, such as 2026-12', cycleName)),
  accept: acceptParameter,
  ...confirmParameters,
  onlyRecorded: onlyRecordedParameter,
  failOn: failOnParameter,
  summary: summaryParameter,
} as const;

type SubmitInput = Input<typeof parameters>;

export const submit = defineCommand({
  description:
    "No job is created for an invalid file, and nothing is billed twice: within a --cycle each row is sent once, in whatever file and by whatever machine that shares the ledger. Submitting a file again resumes its run or shows its results. Left-out rows whose result is an error are written to a file, with the command that sends only these again. A production job takes up to seven days; interrupt the wait, and continue with 'svc au resume --wait'.",
  details:
    "A row is known by token and merchant. Rows that other jobs of the cycle have are not sent again: the command names these jobs, and with --wait delivers their results too. Tokens that results of the cycle made are up to date (status nothing_new if there are no others). A token stands once in a job: its rows for further merchants go into further jobs, and a file that needs more than 5 jobs for one token asks, or needs --accept merchants. A file without --cycle is compared only with itself: for 7 days after its end it shows its results again, later a --cycle is required. A cycle that begins with the rows of an open one, or of one that began within 14 days, needs --pay-again; an empty ledger whose key has jobs or may not list them needs --new-ledger. Machines share what was paid for with 'svc profile set ledger'; without it, two state directories that start together both pay. --only-recorded is for a key that no other system uses. Results of tokens.csv are written to tokens.results.csv unless --out names a file. --summary defaults to the file that GITHUB_STEP_SUMMARY names.",
  examples: [
    ['svc au submit tokens.csv --wait', 'from the file to the results'],
    ['svc au submit tokens.csv --cycle 2026-12', 'the same file each month, safe to run again'],
    ['svc au submit more.csv --cycle 2026-12', 'the rows of another file that this month does not have yet'],
    ['make-tokens | svc au submit - --wait --out results.csv --fail-on err', 'in a pipeline'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [
    3,
    [6, 'completed long ago, or the rows of a young cycle'],
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
    if (input.dryRun && context.globals.curl) {
      await checkInput(context, input);
      return new Preview(await firstChange());
    }
    return submitFile(context, input);
  },
  async request(context, input) {
    await checkInput(context, input);
    return firstRequest();
  },
});

/** Checks what can be checked without a request. */
async function checkInput(context: Context, input: SubmitInput): Promise<void> {
  checkWaitOptions(input);
  await openRequestFile(context, input.file);
}

/**
 * Submits a request file as jobs, and with `--wait` also gets the results. Submitting the same file again resumes its
 * run.
 */
async function submitFile(context: Context, input: SubmitInput): Promise<void> {
  checkWaitOptions(input);
  const print = await recordPrinter(context, submissionView);
  const summarize = await openRunSummary(context, input.summary);
  const file = await (input.dryRun ? openRequestFile : copyRequestFile)(context, input.file);
  const submission = new FileSubmission(context, file, { ...input, confirmed: input, options: optionWords(input) });
  const decided = await submission.decide();
  if (decided.kind === 'nothing new') {
    await submission.inCycleSince();
    return print(nothingNew(file.name));
  }
  if (decided.kind === 'planned') return undefined;
  const { run } = decided;
  const wasCompleted = statusOf(run.record) === 'completed';
  const show = async (submitted: Submission): Promise<void> =>
    print({
      ...submitted,
      in_cycle_since: await submission.inCycleSince(run),
      ...(wasCompleted && { status: 'already_submitted' }),
    });
  const work = (): Promise<void> => keepingOptions(input, sendFile(context, input, { ...decided, show }));
  await summarize(work, (error) => describeRun(context, run, error));
  if (!input.wait && !wasCompleted && !isForgottenRun(run.record))
    noteNext(context, 'to wait for the results', ['au', 'resume', run.name, '--wait']);
}

/** Returns what is shown of a file whose tokens all came from results of its cycle. */
function nothingNew(file: string): Submission {
  const counts = { rows: 0, sent: 0, left_out: 0, left_out_errors: 0, in_cycle_since: null };
  return { run: null, status: 'nothing_new', file, ...counts, job: null, jobs: [] };
}

interface Sending extends Extract<Decision, { readonly kind: 'send' }> {
  readonly show: (submitted: Submission) => Promise<void>;
}

/** Uploads what is left of a run, gets its results if they are wanted, and shows it. */
async function sendFile(context: Context, input: SubmitInput, { submission, run, out, show }: Sending): Promise<void> {
  const { wait, force } = input;
  const wasCompleted = statusOf(run.record) === 'completed';
  const again = ['au', 'resume', run.name, ...optionWords(input)];
  const basis = await holdRun(context, run, async () => {
    submission.take(run, out);
    const poll = pollEarlierJobs(context, run, { again: waitingWords(again) });
    // The run may still need what was confirmed, which only `au submit` takes.
    const confirmed = confirmWords(input);
    const continuing =
      confirmed.length > 0 ? [...sendWords(run), ...confirmed, ...optionWords(input)] : continuingWords(run, input);
    await resumable(continuing, { run: run.record.id }, submission.upload(run, { pollOnce: !wait }));
    if (wait) await requireJoinedFiles(context, run, again);
    if (wait || (wasCompleted && input.out !== undefined))
      await finishRun(context, run, { out, force }, { wait, again });
    return statusOf(run.record) === 'completed' ? ('results' as const) : poll();
  });
  if (wait) await showResults(context, show, run.record, input.failOn);
  else await showSubmitted(run, submissionOf(run.record, basis), show);
}

/** Shows a run whose results were not waited for. @throws SvcError `job_failed` if the service said so of one of its jobs */
async function showSubmitted(
  run: RunDirectory,
  submitted: Submission,
  show: (submitted: Submission) => Promise<void>,
): Promise<void> {
  await show(submitted);
  if (run.record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
}
