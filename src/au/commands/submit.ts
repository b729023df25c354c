import { firstChange, firstRequest } from '../job/job-view.ts';
import { resumable } from '../job/resumable.ts';
import { outlast } from '../job/wait.ts';
import {
  type FileJobs,
  type FileResults,
  deliverFile,
  isOfFile,
  pollFile,
  rowOfFile,
  statusOfJobs,
  waitsForFile,
} from '../jobs/file-jobs.ts';
import { checkWaitOptions, confirmParameters, onlyRecordedParameter, optionWords, withWait } from '../jobs/options.ts';
import { FileSubmission } from '../jobs/submit-file.ts';
import { standingClaims, wereResultsRead } from '../ledger/claims.ts';
import { cycleName } from '../ledger/cycle-names.ts';
import { acceptParameter } from '../request/checks.ts';
import { checkedFileView, copyRequestFile, openFileToSend, type RequestFile } from '../request/open-request-file.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { type Submission, checkThreshold, countCycle, printResults, submissionView } from '../results/submission.ts';
import { isSvcError } from '../../base/errors.ts';
import { type Context, Preview, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { type Input, argument, flag, reading, suggesting, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { formatDuration, parseTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';

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
} as const;

type SubmitInput = Input<typeof parameters>;

export const submit = defineCommand({
  description:
    'No job is created for an invalid file, and nothing is billed twice: within a --cycle each row is sent once, in whatever file and by whatever machine that shares the ledger. Submitting a file again goes on with it or shows its results. Left-out rows whose result is an error are written to a file, with the command that sends only these again. A production job takes up to seven days; interrupt the wait, and continue with the same command.',
  details:
    "A row is known by token and merchant. Rows that other jobs of the cycle have are not sent again: the command names these jobs, and with --wait delivers their results too. Tokens that results of the cycle made are up to date (status nothing_new if there are no others). A token stands once in a job: its rows for further merchants go into further jobs, and a file that needs more than 5 jobs for one token asks, or needs --accept merchants. A file without --cycle is compared only with itself: for 7 days after its end it shows its results again, later a --cycle is required. A cycle that begins with the rows of an open one, or of one that began within 14 days, needs --pay-again; an empty ledger whose key has jobs or may not list them needs --new-ledger. Machines share what was paid for with 'svc profile set ledger'; without it, two state directories that start together both pay. --only-recorded is for a key that no other system uses. Results of tokens.csv are written to tokens.results.csv unless --out names a file.",
  examples: [
    ['svc au submit tokens.csv --wait', 'from the file to the results'],
    ['svc au submit tokens.csv --cycle 2026-12', 'the same file each month, safe to run again'],
    ['svc au submit more.csv --cycle 2026-12', 'the rows of another file that this month does not have yet'],
    ['make-tokens | svc au submit - --wait --out results.csv --fail-on err', 'in a pipeline'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [
    3,
    [6, 'completed long ago, or the rows of a young or unread cycle'],
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

/** Checks the options and the file before any request. */
async function checkInput(context: Context, input: SubmitInput): Promise<void> {
  checkWaitOptions(input);
  await openFileToSend(context, input.file);
}

/** Submits a request file as jobs, and with `--wait` gets the results. Submitting the same file again continues it. */
async function submitFile(context: Context, input: SubmitInput): Promise<void> {
  checkWaitOptions(input);
  const print = await recordPrinter(context, submissionView);
  const file = await (input.dryRun ? openFileToSend : copyRequestFile)(context, input.file);
  const submission = new FileSubmission(context, file, {
    ...input,
    outlasts: input.wait,
    confirmed: input,
    options: optionWords(input),
  });
  const of = { file: file.name };
  const deciding = submission.decide();
  const decided = await (input.dryRun ? deciding : resumable(submission.words, of, deciding, () => submission.hasJobs));
  if (decided.kind === 'planned') return undefined;
  if (decided.kind === 'nothing new') {
    if (!input.dryRun) await submission.upload();
    await warnOfOldCycle(context, await submission.jobs());
    return print(nothingNew(file, input.cycle));
  }
  const sending = new Sending(context, input, submission, { ...decided, print });
  await resumable(
    () => submission.again,
    of,
    sending.run(),
    () => submission.hasJobs,
  );
}

/** Returns the submission of a file whose tokens all came from results of its cycle. */
function nothingNew({ name, check: { rows } }: RequestFile, cycle: string | undefined): Submission {
  const counts = { rows, sent: 0, left_out: rows, left_out_errors: 0, in_cycle_since: null };
  return { status: 'nothing_new', file: name, cycle: cycle ?? null, ...counts, job: null, jobs: [] };
}

/** The age from which a cycle is old: a monthly cycle, even with a late run, is younger. */
const OLD_MS = 35 * DAY_MS;

/**
 * Warns if nothing was sent and the file's newest job is old: a schedule may name the same cycle each month. If results made all
 * tokens of the file, the newest job of its cycle counts.
 */
async function warnOfOldCycle(context: Context, { file, jobs, isNamed, cycle }: FileJobs): Promise<void> {
  const claims = jobs.length === 0 ? standingClaims(cycle.entries) : jobs.map(({ claim }) => claim);
  const newest = Math.max(...claims.flatMap((claim) => parseTime(claim.created_at) ?? []));
  const age = (await context.client()).now() - newest;
  if (isNamed && claims.length > 0 && age > OLD_MS)
    context.notices.warn(
      `nothing was sent: the newest job with rows of ${file.name} in cycle ${cycle.name} is ${formatDuration(age)} old. If a schedule runs this command, give each of its cycles another name, such as the month`,
    );
}

/** One run of the command. */
class Sending {
  readonly #context: Context;
  readonly #input: SubmitInput;
  readonly #submission: FileSubmission;
  readonly #out: string;
  readonly #wasDelivered: boolean;
  readonly #print: (row: Submission) => Promise<void>;

  constructor(
    context: Context,
    input: SubmitInput,
    submission: FileSubmission,
    how: { readonly out: string; readonly wasDelivered: boolean; readonly print: (row: Submission) => Promise<void> },
  ) {
    this.#context = context;
    this.#input = input;
    this.#submission = submission;
    this.#out = how.out;
    this.#wasDelivered = how.wasDelivered;
    this.#print = how.print;
  }

  async run(): Promise<void> {
    const { wait, out } = this.#input;
    await this.#submission.upload();
    const fileJobs = await this.#submission.jobs();
    if (wait) await this.#requireFiles(fileJobs);
    if (wait || (this.#wasDelivered && out !== undefined)) await this.#showResults();
    else await this.#showJobs(fileJobs);
  }

  /**
   * Checks before a wait that other machines have sent the files of their jobs. If a machine died while it sent a file, the wait
   * would notice only after the job's address has expired.
   * @throws SvcError `pending`
   */
  async #requireFiles(found: FileJobs): Promise<void> {
    const { polling, sentNow } = this.#submission;
    const { ledger } = found.cycle;
    const others = found.jobs.filter(
      ({ claim: { job } }) => !sentNow.has(job) && ledger.jobFiles(job).sent === undefined,
    );
    if (others.length === 0) return;
    const poll = () => pollFile(this.#context, { ...found, jobs: others }, { wait: false, ...polling });
    const polled = await outlast(this.#context, true, poll);
    if (polled.reason !== undefined && (waitsForFile(found, polled) || !isSvcError(polled.reason, 'pending')))
      throw polled.reason;
  }

  /** Polls the jobs of earlier commands, and shows all jobs of the file. */
  async #showJobs(found: FileJobs): Promise<void> {
    const { polling, sentNow } = this.#submission;
    const earlier = found.jobs.filter(({ claim }) => !sentNow.has(claim.job));
    // A job with read results needs no poll: it has its file, even if the service has forgotten the job.
    const unread = earlier.filter(({ claim }) => !wereResultsRead(found.cycle.entries, claim.job));
    const polled = await pollFile(this.#context, { ...found, jobs: unread }, { wait: false, ...polling });
    const { reason } = polled;
    const isFailed = isSvcError(reason, 'job_failed');
    if (reason !== undefined && (waitsForFile(found, polled) || !isSvcError(reason, 'pending', 'job_failed')))
      throw reason;
    const ofEarlier = statusOfJobs(earlier, found, polled);
    const status = sentNow.size > 0 && ofEarlier === 'completed' ? 'pending' : ofEarlier;
    await warnOfOldCycle(this.#context, found);
    await this.#print({ status: this.#wasDelivered ? 'already_submitted' : status, ...rowOfFile(found) });
    if (reason !== undefined && isFailed) throw reason;
    if (this.#wasDelivered) return this.#noteSentBefore(found);
    noteNext(this.#context, 'to wait for the results', withWait(polling.again));
  }

  async #showResults(): Promise<void> {
    const { wait, force, failOn } = this.#input;
    const destination = { out: this.#out, force };
    const how = { wait, ...this.#submission.polling };
    const written = await deliverFile(this.#context, () => this.#submission.jobs(), destination, how);
    const { fileJobs: found } = written;
    const { rows } = found.file.check;
    const errors = await this.#leftOutErrors(written);
    const counted = await countCycle(this.#context, found.cycle, written, { rows });
    if (this.#wasDelivered) this.#noteSentBefore(found);
    await warnOfOldCycle(this.#context, found);
    const row = { status: this.#wasDelivered ? 'already_submitted' : 'completed', ...rowOfFile(found, errors) };
    await printResults(this.#context, this.#print, row, counted);
    checkThreshold(counted, failOn);
  }

  #noteSentBefore({ file, jobs }: FileJobs): void {
    const what = jobs.some((job) => isOfFile(job, file))
      ? 'this file was submitted'
      : 'all rows of this file were sent';
    this.#context.notices.note(`${what} before; nothing was sent now`);
  }

  /** Writes the left-out rows whose result is an error to the fix file. Returns the largest possible number of such rows. */
  async #leftOutErrors(written: FileResults): Promise<number> {
    if (written.jobs.every((job) => isOfFile(job, written.fileJobs.file))) return 0;
    const { deliverFixFile } = await import('../jobs/fix-file.ts');
    return deliverFixFile(this.#context, written);
  }
}
