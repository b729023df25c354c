import { isSvcError, SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import { argument, hostName, integer, text, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { openSummary, type Summarize, type Summary, summaryParameter } from '../../cli/app/summary.ts';
import { formatNumber } from '../../cli/output/time.ts';
import { countedResults, finishRun, type Results, showResults, submissionView } from '../results/deliver.ts';
import { failOnParameter, type Threshold } from '../results/fail-on.ts';
import type { WakeUp } from '../run/job.ts';
import type { RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import {
  actionsOf,
  explainMissing,
  jobRequest,
  namedRun,
  partRows,
  resultsPath,
  resumable,
  runRow,
  shownStatus,
  warningOf,
} from '../run/run-view.ts';
import { showRun } from '../run/show-progress.ts';
import { waitForJob } from '../run/wait.ts';
import { jobView } from './jobs.ts';

/** Where a wait listens for the events of its jobs. */
export interface EventsAddress {
  readonly port: number;
  /** A name beside those of loopback that senders may use. */
  readonly host: string | undefined;
}

/** `--events`: the port on which a wait listens for the events of its jobs. */
export const eventsParameter = value(
  '--events <[host:]port>',
  'while waiting, receive webhook events on this local port, and poll as soon as one says that the job ended; a host is the name that senders use, such as that of a tunnel',
  (typed): EventsAddress => {
    const colon = typed.lastIndexOf(':');
    return {
      port: integer(0, 65_535)(typed.slice(colon + 1)),
      host: colon === -1 ? undefined : hostName(typed.slice(0, colon)),
    };
  },
);

/** `--exec`: a command of the operator's for each run that completes. */
export const execParameter = value(
  '--exec <command>',
  'a shell command to run once for each run that completes, which it gets as JSON on standard input; it is run again by the next sync or wait if it fails',
  text,
);

export const wait = defineCommand({
  description:
    'Polls after 2 s, then with increasing intervals, up to five minutes. A production job takes up to seven days; the wait can be interrupted and resumed at any time. Results are downloaded as parts finish and written to the --out of the run.',
  examples: [
    ['svc au wait run-20260131-0a1b2c3d-4e5f', 'until every part is done, then its results'],
    ['svc au wait 5f0c… --timeout 50m', 'in a CI job: exit code 11 when it is still pending then'],
    [
      "svc au wait run-20260131-0a1b2c3d-4e5f --exec 'mail-results'",
      'then run a command with the run on standard input',
    ],
    ['svc au wait 5f0c… --events 4100', 'done as soon as its webhook event arrives on this port'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 10, 11, 12, 130],
  worksElsewhere: true,
  fields: [...new Set([...jobView.fields, ...submissionView.fields])],
  parameters: {
    for: argument('<job|run>', 'id of a job, or id or directory of a run', text),
    events: eventsParameter,
    exec: execParameter,
    failOn: failOnParameter,
    summary: summaryParameter,
  },
  async run(context, { for: name, events, exec, failOn, summary }) {
    const run = namedRun(context, name);
    if (!run && exec !== undefined)
      throw new SvcError('usage', '--exec is about the results of a run, and this is a job', {
        hint: 'Name a run:',
        next: ['au', 'runs'],
      });
    if (!run && failOn !== undefined)
      throw new SvcError('usage', '--fail-on is about the results of a run, and this is a job', {
        hint: 'Name a run:',
        next: ['au', 'runs'],
      });
    const summarize = await openSummary(context, summary);
    const wakeUpFor = events && (await listenForJobs(context, events));
    if (run) await waitForNamedRun(context, run, { wakeUp: wakeUpFor?.(run.record), exec, failOn, summarize });
    else await waitForNamedJob(context, name, { wakeUp: wakeUpFor?.({ parts: [{ job: name }] }), summarize });
  },
  request: (context, { for: name }) => jobRequest(context, name),
});

interface How {
  readonly wakeUp: WakeUp | undefined;
  readonly summarize: Summarize;
}

async function waitForNamedRun(
  context: Context,
  run: RunDirectory,
  { summarize, failOn, ...how }: How & { readonly exec: string | undefined; readonly failOn: Threshold | undefined },
): Promise<void> {
  const print = await recordPrinter(context, submissionView);
  const work = async (): Promise<void> => {
    const failure = await run.hold(context.system, async () => {
      await finishRun(context, run, { out: resultsPath(context, run.record), force: false }, how);
      return how.exec === undefined ? undefined : runExec(context, run, how.exec);
    });
    await showResults(context, print, run.record, failure ? undefined : failOn);
    if (failure) throw failure;
  };
  await summarize(work, (error) => describeRun(context, run, error));
}

async function waitForNamedJob(context: Context, job: string, { wakeUp, summarize }: How): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const client = await context.client();
  const waiting = waitForJob(client, job, { onEvent: showRun(context), wakeUp });
  let status = 'not completed';
  const work = async (): Promise<void> => {
    const found = await resumable(['au', 'wait', job], job, explainMissing(context, job, waiting));
    ({ status } = found);
    await print(found);
  };
  await summarize(work, () => ({ title: summaryTitle(status), facts: [['job', job]] }));
}

/** Gives, for a run or for a job alone, what wakes a wait up when one of its jobs has ended. */
type JobWakeUp = (of: { readonly parts: readonly { readonly job?: string }[] }) => WakeUp;

/** Listens on loopback for events of jobs, which only say when to poll. @throws SvcError `local` if it cannot listen */
export async function listenForJobs(context: Context, { host, port }: EventsAddress): Promise<JobWakeUp> {
  const { notices, clock } = context;
  const { JobHints } = await import('../run/job-hints.ts');
  const hints = await JobHints.open({
    port,
    allowHosts: host === undefined ? [] : [host],
    clock,
    onRefused: ({ status, reason }) => notices.warn(`a request was refused (${status}): ${reason}`),
  });
  context.onClose(() => hints.close());
  notices.note(`listening for events on ${hints.url}`);
  return ({ parts }) =>
    async (signal) => {
      await hints.next((job) => parts.some((part) => part.job === job), signal);
      if (!signal.aborted) notices.note('an event says that a job has ended: polling now');
    };
}

/** The command of `--exec` failed: the run itself is done. */
export class ExecFailed extends SvcError {}

/**
 * Runs the command where it is due for a completed run whose results are written. On standard input it gets the run as
 * `svc au status` shows it, with the counts of its results; what it writes goes to stderr.
 * @returns its failure, after which it stays due
 */
export async function runExec(context: Context, run: RunDirectory, command: string) {
  const { record } = run;
  if (record.exec !== 'due' || record.results === undefined) return undefined;
  const { system, signal, notices } = context;
  const results = await countedResults(record, actionsOf(context, [])).catch((error: unknown) => {
    // Bytes that the operator vouched for need not be a table.
    if (isSvcError(error, 'checksum_mismatch')) return { file: record.results?.file };
    throw error;
  });
  const { runLine } = await import('../../base/security/child-environment.ts');
  const ended = await runLine(command, `${JSON.stringify({ ...runRow(record), results })}\n`, {
    env: system.env,
    cwd: system.cwd,
    added: { SVC_RUN_ID: record.id, SVC_RESULTS: record.results.file },
    onLine: (line) => notices.note(line),
    signal,
  });
  signal.throwIfAborted();
  const { code, problem } = ended;
  if (code !== 0 || problem !== undefined)
    return new ExecFailed(
      'local',
      `the command of --exec ${problem ?? `ended with ${code ?? ended.signal ?? 'a signal'}`}`,
      {
        hint: 'The results are written. Fix the command, and run it again for this run:',
        next: ['au', 'wait', run.name, '--exec', '<command>'],
      },
    );
  delete record.exec;
  run.save();
  return undefined;
}

/** Describes a run for the step summary; `error` is the failure that ended the work on it, if any. */
export async function describeRun(context: Context, run: RunDirectory, error?: unknown): Promise<Summary> {
  const { record } = run;
  // Results that were moved away, or that the operator vouched for, may not be countable.
  const counting = record.results && countedResults(record, actionsOf(context, []));
  const results = await counting?.catch(() => undefined);
  const summary = await runSummary(record, results, results && warningOf(context, record, results.codes));
  if (shownStatus(record) !== 'pending') return summary;
  // After a failure, nobody said that it is pending.
  if (error !== undefined && !isSvcError(error, 'pending')) return { ...summary, title: summaryTitle('not completed') };
  return { ...summary, commands: [nextCommand(['au', 'wait', run.name], context.globals, context.system)] };
}

function summaryTitle(status: string): string {
  return `Account Updater: ${status}`;
}

/** A run in words: its ids, then the counts of its results by class and code, or how far each of its jobs is. */
async function runSummary(record: RunRecord, results?: Results, warning?: string): Promise<Summary> {
  const { id, profile, cycle, input } = record;
  const parts = partRows(record);
  const facts: [string, string][] = [
    ...(warning === undefined ? [] : [['warning', warning] as [string, string]]),
    ['run', id],
    ['file', `${input.name}, ${formatNumber(input.rows)} rows`],
    ['jobs', parts.map(({ job }) => job ?? 'none yet').join(', ')],
    ['profile', cycle === undefined ? profile : `${profile}, cycle ${cycle}`],
  ];
  const title = summaryTitle(shownStatus(record));
  if (results === undefined) {
    const rows = parts.map((part) => [
      String(part.part),
      formatNumber(part.rows),
      part.status,
      [part.progress, ...part.errors].join('; '),
    ]);
    return { title, facts, head: ['part', 'rows', 'status', 'progress'], rows };
  }
  const { updated, warned, errors, unknown, unchanged, codes, file } = results;
  const counts = { updated, warnings: warned, errors, unknown, unchanged };
  const counted = Object.entries(counts).map(([name, count]) => `${formatNumber(count)} ${name}`);
  const { CLASS_NAMES, shownCode } = await import('../results/report-view.ts');
  const rows = CLASS_NAMES.flatMap(([kind, name]) =>
    codes.flatMap((code) =>
      code.class === kind ? [[name, shownCode(code.code), formatNumber(code.count), code.action]] : [],
    ),
  );
  facts.push(['results', file], ['rows', counted.join(', ')]);
  return { title, facts, head: ['class', 'result code', 'rows', 'what to do'], rows };
}
