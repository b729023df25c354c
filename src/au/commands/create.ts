import { dryRunParameter } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { jobView } from '../job/job-view.ts';

export const create = defineRequestCommand({
  examples: [
    ['svc au create', 'a new job'],
    ['svc au create --fields id', 'its id, for a script'],
  ],
  permissions: ['account-updater:job:create'],
  exitCodes: [9],
  changes: true,
  onlyPrints: true,
  fields: jobView.fields,
  parameters: { dryRun: dryRunParameter },
  request: async () => (await import('../../client/api/resources.ts')).createJobRequest(['au', 'jobs']),
  async printer(context) {
    const print = await recordPrinter(context, jobView);
    return async (job) => {
      noteNext(context, `created job ${job.id}; upload a file within the hour`, ['au', 'upload', job.id, '<file>']);
      await print(job);
    };
  },
});
