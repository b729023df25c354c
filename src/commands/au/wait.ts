import type { WakeUp } from '../../account-updater/job.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import { waitForJob } from '../../account-updater/wait.ts';
import { type Context, defineCommand } from '../../app/command.ts';
import { argument, hostName, integer, text, value } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { openSummary, type Summarize, summaryParameter } from '../../app/summary.ts';
import { SvcError } from '../../errors.ts';
import { describeRun, execParameter, runExec } from './follow-up.ts';
import { jobView } from './jobs.ts';
import { showRun } from './progress.ts';
import { finishRun, showResults, submissionView } from './results.ts';
import { explainMissing, jobRequest, namedRun, resultsPath, resumable } from './runs.ts';

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
    summary: summaryParameter,
  },
  async run(context, { for: name, events, exec, summary }) {
    const run = namedRun(context, name);
    if (!run && exec !== undefined)
      throw new SvcError('usage', '--exec is about the results of a run, and this is a job', {
        hint: 'Name a run:',
        next: ['au', 'runs'],
      });
    const summarize = await openSummary(context, summary);
    const wakeUpFor = events && (await listenForJobs(context, events));
    if (run) await waitForNamedRun(context, run, { wakeUp: wakeUpFor?.(run.record), exec, summarize });
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
  { summarize, ...how }: How & { readonly exec: string | undefined },
): Promise<void> {
  const print = await recordPrinter(context, submissionView);
  const work = async (): Promise<void> => {
    const failure = await run.hold(context.system, async () => {
      await finishRun(context, run, { out: resultsPath(context, run.record), force: false }, how);
      return how.exec === undefined ? undefined : runExec(context, run, how.exec);
    });
    await showResults(context, print, run.record);
    if (failure) throw failure;
  };
  await summarize(work, () => describeRun(context, run));
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
  await summarize(work, () => ({ title: `Account Updater: ${status}`, facts: [['job', job]] }));
}

/** Gives, for a run or for a job alone, what wakes a wait up when one of its jobs has ended. */
type JobWakeUp = (of: { readonly parts: readonly { readonly job?: string }[] }) => WakeUp;

/** Listens on loopback for events of jobs, which only say when to poll. @throws SvcError `local` if it cannot listen */
export async function listenForJobs(context: Context, { host, port }: EventsAddress): Promise<JobWakeUp> {
  const { notices, clock } = context;
  const { JobHints } = await import('../../webhooks/job-hints.ts');
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
