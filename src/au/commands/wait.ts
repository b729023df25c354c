import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { argument } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { openSummary, type Summarize, summaryParameter } from '../../cli/app/summary.ts';
import { text } from '../../cli/app/value-parsers.ts';
import type { WakeUp } from '../../client/api/poll.ts';
import { finishRun } from '../wait/deliver.ts';
import { failOnParameter, type Threshold } from '../results/fail-on.ts';
import { showResults, submissionView } from '../results/submission.ts';
import { describeRun, summaryTitle } from '../wait/describe-run.ts';
import { eventsParameter, listenForJobs } from '../wait/events-option.ts';
import { execParameter, runExec } from '../wait/exec-option.ts';
import { explainMissing, jobRequest, jobView } from '../run/job-view.ts';
import { namedRun } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { resultsPath } from '../run/run-view.ts';
import { showRun } from '../send/show-progress.ts';
import { holdRun, resumable } from '../run/verdict.ts';
import { waitForJob } from '../wait/wait.ts';

export const wait = defineCommand({
  description:
    'Polls after 2 s, then at increasing intervals up to five minutes. A production job takes up to seven days: interrupt the wait and continue it at any time. Results are downloaded as parts finish, and written to the --out of the run.',
  details:
    'The command of --exec is run again by the next sync or wait if it fails. --events takes a host too: the name that senders use, such as that of a tunnel. --summary defaults to the file that GITHUB_STEP_SUMMARY names.',
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
  exitCodes: [9, [10, 'the job failed, or --fail-on was met'], [11, 'still pending'], 12, 130],
  fields: [...new Set([...jobView.fields, ...submissionView.fields])],
  parameters: {
    for: argument('<job|run>', 'id of a job, or id or directory of a run', text),
    events: eventsParameter,
    exec: execParameter,
    failOn: failOnParameter,
    summary: summaryParameter,
  },
  async run(context, { for: name, events, exec, failOn, summary }) {
    const run = await namedRun(context, name);
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
    const failure = await holdRun(context, run, async () => {
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
