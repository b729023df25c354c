import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { optionalArgument } from '../../cli/parameter.ts';
import { listPrinter, once, recordPrinter } from '../../cli/print.ts';
import { showRun } from '../../cli/run-progress.ts';
import { text } from '../../cli/values.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { jobView } from '../../views/job.ts';
import { partView, runView } from '../../views/run.ts';

/** `svc au status` */
export const status = defineCommand({
  name: 'status',
  summary: 'the recorded runs; or one run, part by part; or one job as it stands now',
  examples: [
    ['svc au status', 'the runs recorded on this machine'],
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, looked at now'],
    ['svc au status 5f0c…', 'one job: its state, and its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: [...runView.fields, ...partView.fields, ...jobView.fields],
  parameters: { of: optionalArgument('[job|run]', 'id of a job, or id or directory of a run', text) },
  async run(context, { of }) {
    const { namedRun, recordedRuns } = await import('../../cli/runs.ts');
    const { partRows, runRow } = await import('../../cli/run-rows.ts');
    if (of === undefined) {
      const print = await listPrinter(context, runView);
      const { runs } = recordedRuns(context);
      await print(once(runs.map(({ record }) => runRow(record))));
      return runs.length === 0 ? context.notices.note('no runs are recorded on this machine') : undefined;
    }
    const run = namedRun(context, of);
    if (!run) return printJob(context, of);
    const print = await listPrinter(context, partView);
    const client = await context.client();
    const { lookAtJobs } = await import('../../runs/watch.ts');
    const look = (): Promise<unknown> =>
      lookAtJobs({ client, record: run.record, save: () => run.save(), onEvent: showRun(context) });
    await run.hold(context.system, look).catch((error: unknown) => {
      // Another process is at it, or the directory cannot be written: what is recorded can be shown all the same.
      if (!isSvcError(error, 'config', 'local')) throw error;
      context.notices.note(`as recorded, not looked at now: ${error.message}`);
    });
    return void (await print(once(partRows(run.record))));
  },
  async request(context, { of }) {
    if (of !== undefined) return (await import('../../cli/runs.ts')).jobRequest(context, of);
    throw new SvcError('usage', '--curl has nothing to show: the recorded runs are on this machine', {
      hint: 'Name a job or a run.',
    });
  },
});

async function printJob(context: Context, id: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../../runs/job.ts');
  const { explainMissing } = await import('../../cli/runs.ts');
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}
