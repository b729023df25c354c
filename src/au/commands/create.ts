import { defineCommand, dryRunParameter, Preview, type Result } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { jobView } from '../run/job-view.ts';

export const create = defineCommand({
  examples: [
    ['svc au create', 'a new job'],
    ['svc au create --fields id', 'its id, for a script'],
  ],
  permissions: ['account-updater:job:create'],
  exitCodes: [9],
  changes: true,
  fields: jobView.fields,
  parameters: { dryRun: dryRunParameter },
  async run(context, { dryRun }): Promise<Result> {
    const print = await recordPrinter(context, jobView);
    const { createJobRequest } = await import('../../client/api/resources.ts');
    if (dryRun) return new Preview(createJobRequest());
    const client = await context.client();
    const job = await client.accountUpdater.create();
    noteNext(context, `created job ${job.id}; upload a file within the hour`, ['au', 'upload', job.id, '<file>']);
    await print(job);
  },
  request: async () => (await import('../../client/api/resources.ts')).createJobRequest(),
});
