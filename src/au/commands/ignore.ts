import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { argument } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { explainMissing } from '../jobs/missing-job.ts';
import { jobRequest, jobView } from '../job/job-view.ts';
import { wholeJobId } from '../whole-job-id.ts';

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
  async run(context, { job: typed }) {
    const { readJob } = await import('../job/job.ts');
    const { CommandLedger } = await import('../ledger/command-ledger.ts');
    const print = await recordPrinter(context, jobView);
    const id = await wholeJobId(context, typed);
    const job = await explainMissing(context, id, readJob(await context.client(), id));
    const reading = new CommandLedger(context, { onlyReads: true });
    await requireForeign(await reading.open(reading.tenantOf(job)), job);
    const question = `Ignore job ${job.id}? Its rows are sent again if a file has them.`;
    await context.prompts().confirm(question, 'nothing was changed', ['au', 'ignore', job.id, '--yes']);
    const ledger = new CommandLedger(context);
    await (await ledger.open(ledger.tenantOf(job))).ignore(job.id);
    context.notices.success(`job ${job.id} is ignored from now on`);
    return print(job);
  },
  request: (_, { job }) => jobRequest(job),
});

/** Checks that the ledger has no claim of a job, so that another system sent it. @throws SvcError `conflict` */
async function requireForeign(ledger: Ledger, { id: job }: AccountUpdaterJob): Promise<void> {
  if ((await ledger.cycleOfJob(job)) === undefined) return;
  if ((await ledger.cycleWithoutClaim(job)) !== undefined)
    throw new SvcError('conflict', `svc sent job ${job}, and the ledger has lost its claim: it cannot be ignored`, {
      hint: 'The next command that sends rows, on a machine that has the claim, puts it back. Only if none has it, free the rows of the job: they are sent again if a file has them.',
      next: ['au', 'abandon', job],
      facts: { job },
    });
  throw new SvcError('conflict', `svc sent job ${job}, as the ledger says: it cannot be ignored`, {
    hint: 'The job stops no upload, and its rows are not sent again. See what is known of it; only if nothing can be proven, free its rows:',
    next: ['au', 'status', job],
    alternatives: [['au', 'abandon', job]],
    facts: { job },
  });
}
