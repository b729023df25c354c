import { defineCommand } from '../../cli/command.ts';
import { argument } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { showRun } from '../../cli/run-progress.ts';
import { text } from '../../cli/values.ts';
import { jobView } from '../../views/job.ts';

/** `svc au wait` */
export const wait = defineCommand({
  name: 'wait',
  summary: 'wait until a job is completed or has failed',
  description:
    'Looks after 2 s, then less and less often, up to every five minutes. A production job takes up to seven days; the wait can be ended and taken up again at any time.',
  examples: [
    ['svc au wait 5f0c…', 'until it is done'],
    ['svc au wait 5f0c… --timeout 50m', 'in a CI job: exit code 11 when it is still pending then'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [10, 11, 130],
  parameters: { job: argument('<job>', 'id of a job', text) },
  async run(context, { job }) {
    const { orGoOnWith } = await import('../../runs/going-on.ts');
    const { waitForJob } = await import('../../runs/wait.ts');
    const print = await recordPrinter(context, jobView);
    const client = await context.client();
    const completed = waitForJob(client, job, { onEvent: showRun(context) });
    await print(await orGoOnWith(`svc au wait ${job}`, job, completed));
  },
});
