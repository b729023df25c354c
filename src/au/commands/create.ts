import { isSvcError } from '../../base/errors.ts';
import { type Context, dryRunParameter } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { jobView } from '../job/job-view.ts';

export const create = defineRequestCommand({
  examples: [
    ['svc au create', 'a new job'],
    ['svc au create --jq .id', 'its id, for a script'],
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
      await keepDirectory(context, job.id);
      noteNext(context, `created job ${job.id}; upload a file within the hour`, ['au', 'upload', job.id, '<file>']);
      await print(job);
    };
  },
});

/**
 * Makes the directory of a job's files, which shows later commands that this machine created the job and sent it nothing. Where it
 * cannot be made, the first submission may end with 11 until the service removes the job.
 */
async function keepDirectory(context: Context, job: string): Promise<void> {
  const { CommandLedger } = await import('../ledger/command-ledger.ts');
  try {
    new CommandLedger(context, { onlyReads: true }).jobFiles(job).make();
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
}
