import type { RunDirectory } from '../../account-updater/run-directory.ts';
import { type Context, defineCommand } from '../../app/command.ts';
import { argument, text } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { eventsParameter, type JobWakeUp, listenForJobs } from './options.ts';
import { jobView, submissionView } from './view.ts';

/** `svc au wait` */
export const wait = defineCommand({
  description:
    'Polls after 2 s, then with increasing intervals, up to five minutes. A production job takes up to seven days; the wait can be interrupted and resumed at any time. Results are downloaded as parts finish and written to the --out of the run.',
  examples: [
    ['svc au wait run-20260131-0a1b2c3d-4e5f', 'until every part is done, then its results'],
    ['svc au wait 5f0c… --timeout 50m', 'in a CI job: exit code 11 when it is still pending then'],
    ['svc au wait 5f0c… --events 4100', 'done as soon as its webhook event arrives on this port'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 10, 11, 12, 130],
  worksElsewhere: true,
  fields: [...jobView.fields, ...submissionView.fields],
  parameters: {
    for: argument('<job|run>', 'id of a job, or id or directory of a run', text),
    events: eventsParameter,
  },
  async run(context, { for: name, events }) {
    const { namedRun } = await import('./runs.ts');
    const run = namedRun(context, name);
    const nudge = events === undefined ? undefined : await listenForJobs(context, events);
    await (run ? waitForRun(context, run, nudge) : waitForJob(context, name, nudge));
  },
  async request(context, { for: name }) {
    return (await import('./runs.ts')).jobRequest(context, name);
  },
});

async function waitForJob(context: Context, job: string, nudge: JobWakeUp | undefined): Promise<void> {
  const { withResumeHint } = await import('../../account-updater/events.ts');
  const jobs = await import('../../account-updater/wait.ts');
  const { showRun } = await import('./progress.ts');
  const print = await recordPrinter(context, jobView);
  const client = await context.client();
  const completed = jobs.waitForJob(client, job, {
    onEvent: showRun(context),
    nudge: nudge?.({ parts: [{ job }] }),
  });
  const { explainMissing } = await import('./runs.ts');
  await print(await withResumeHint(`svc au wait ${job}`, job, explainMissing(context, job, completed)));
}

async function waitForRun(context: Context, run: RunDirectory, nudge: JobWakeUp | undefined): Promise<void> {
  const { finishRun } = await import('./run-summary.ts');
  const { resultsPath } = await import('./runs.ts');
  const { showResults } = await import('./run-summary.ts');
  const print = await recordPrinter(context, submissionView);
  await run.hold(context.system, () =>
    finishRun(context, run, { out: resultsPath(context, run.record), force: false }, nudge?.(run.record)),
  );
  await showResults(context, print, run.record);
}
