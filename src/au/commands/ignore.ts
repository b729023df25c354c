import { defineCommand } from '../../cli/app/command.ts';
import { argument } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { explainMissing } from '../jobs/missing-job.ts';
import { jobRequest, jobView } from '../job/job-view.ts';

export const ignore = defineCommand({
  description:
    'Says that another system submitted a job of this key. From then on the job stops no upload, on this machine and on those that share the ledger.',
  details:
    'Its rows are not in the ledger: they are sent again if a file has them. If svc sent the job on a machine without the ledger, run svc au resume with the ledger set on that machine instead, which copies its claims.',
  examples: [['svc au ignore 5f0c…', 'the job belongs to another system']],
  permissions: ['account-updater:job:read'],
  exitCodes: [3, [5, 'the service does not know the job'], [6, 'svc sent the job itself'], 9],
  fields: jobView.fields,
  parameters: { job: argument('<job>', 'id of a job that svc did not submit', textToSend) },
  async run(context, { job: id }) {
    const { readJob } = await import('../job/job.ts');
    const { CommandLedger } = await import('../ledger/command-ledger.ts');
    const print = await recordPrinter(context, jobView);
    const job = await explainMissing(context, id, readJob(await context.client(), id));
    await new CommandLedger(context, { onlyReads: true }).requireForeign(job);
    const question = `Ignore job ${job.id}? Its rows are sent again if a file has them.`;
    await context.prompts().confirm(question, 'nothing was changed', ['au', 'ignore', job.id, '--yes']);
    await new CommandLedger(context).ignore(job);
    context.notices.success(`job ${job.id} is ignored from now on`);
    return print(job);
  },
  request: (_, { job }) => jobRequest(job),
});
