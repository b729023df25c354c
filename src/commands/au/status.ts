import { type Context, defineCommand } from '../../app/command.ts';
import { optionalArgument, text } from '../../app/parameter.ts';
import {
  listPrinter,
  newListProgress,
  once,
  pageSizeFor,
  PAGING_PARAMETERS,
  recordPrinter,
  reportRest,
  wanted,
} from '../../app/print.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { showRun } from './progress.ts';
import { jobView, partView, runView } from './view.ts';

/** `svc au status` */
export const status = defineCommand({
  examples: [
    ['svc au status', 'the runs recorded on this machine'],
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, polled now'],
    ['svc au status 5f0c…', 'one job: its state, and its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: [...runView.fields, ...partView.fields, ...jobView.fields],
  parameters: { of: optionalArgument('[job|run]', 'id of a job, or id or directory of a run', text) },
  async run(context, { of }) {
    const { namedRun, recordedRuns } = await import('./runs.ts');
    const { partRows, runRow } = await import('./run-summary.ts');
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
    const { pollJobs } = await import('../../account-updater/poll-parts.ts');
    const look = (): Promise<unknown> =>
      pollJobs({ client, record: run.record, save: () => run.save(), onEvent: showRun(context) });
    await run.hold(context.system, look).catch((error: unknown) => {
      // Another process is at it, or the directory cannot be written: what is recorded can be shown all the same.
      if (!isSvcError(error, 'config', 'local')) throw error;
      context.notices.note(`as recorded, not polled now: ${error.message}`);
    });
    return void (await print(once(partRows(run.record))));
  },
  async request(context, { of }) {
    if (of !== undefined) return (await import('./runs.ts')).jobRequest(context, of);
    throw new SvcError('usage', '--curl has nothing to show: the recorded runs are on this machine', {
      hint: 'Name a job or a run.',
    });
  },
});

async function printJob(context: Context, id: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../../account-updater/job.ts');
  const { explainMissing } = await import('./runs.ts');
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}

/** `svc au list` */
export const list = defineCommand({
  examples: [
    ['svc au list', 'the newest page'],
    ['svc au list --all --fields id,status', 'every job the service still knows'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: jobView.fields,
  parameters: PAGING_PARAMETERS,
  async run(context, input) {
    const print = await listPrinter(context, jobView);
    const client = await context.client();
    const pages = client.accountUpdater.list({ start: input.start, pageSize: pageSizeFor(input) });
    const seen = newListProgress();
    await print(wanted(pages.pages(), input, seen));
    reportRest(context, seen, "no jobs; 'svc au submit <file>' makes one");
  },
  async request(_, input) {
    const [{ listJobsRequest }, { pageRequest }] = await Promise.all([
      import('../../api/resources.ts'),
      import('../../api/pages.ts'),
    ]);
    return pageRequest(listJobsRequest(), { start: input.start, pageSize: pageSizeFor(input) });
  },
});
