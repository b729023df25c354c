import { defineCommand } from '../../cli/command.ts';
import { argument } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import { jobView } from '../../views/job.ts';

/** `svc au status` */
export const status = defineCommand({
  name: 'status',
  summary: 'one job as it stands now',
  examples: [['svc au status 5f0c…', 'its state, and its errors if it failed']],
  permissions: ['account-updater:job:read'],
  parameters: { job: argument('<job>', 'id of a job', text) },
  async run(context, { job }) {
    const { readJob } = await import('../../runs/job.ts');
    const print = await recordPrinter(context, jobView);
    const client = await context.client();
    await print(await readJob(client, job));
  },
});
