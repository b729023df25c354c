import { defineCommand, type Result } from '../../cli/command.ts';
import { dryRunParameter, Preview, type PreviewRequest } from '../../cli/preview.ts';
import { recordPrinter } from '../../cli/print.ts';
import { sameProfile } from '../../cli/same-profile.ts';
import { jobView } from '../../views/job.ts';

/** `svc au create` */
export const create = defineCommand({
  name: 'create',
  summary: 'create a job that waits one hour for its file (a single step; submit does it all)',
  examples: [
    ['svc au create', 'a new job'],
    ['svc au create --fields id', 'its id, for a script'],
  ],
  permissions: ['account-updater:job:create'],
  exitCodes: [9],
  fields: jobView.fields,
  parameters: { dryRun: dryRunParameter },
  async run(context, { dryRun }): Promise<Result> {
    const print = await recordPrinter(context, jobView);
    if (dryRun) return new Preview(await createRequest());
    const client = await context.client();
    const job = await client.accountUpdater.create();
    const next = `created job ${job.id}; give it a file within the hour: 'svc au upload ${job.id} <file>'`;
    context.notices.note(sameProfile(next, context.globals));
    await print(job);
  },
  request: createRequest,
});

async function createRequest(): Promise<PreviewRequest> {
  return (await import('../../api/account-updater.ts')).createJobRequest();
}
