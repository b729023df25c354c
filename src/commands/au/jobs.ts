import { type Context, defineCommand, dryRunParameter, Preview, type Result } from '../../app/command.ts';
import { noteNext } from '../../app/hint.ts';
import { argument, text } from '../../app/parameter.ts';
import { listPrinter, once, recordPrinter } from '../../app/print.ts';
import { isSvcError } from '../../errors.ts';
import { fieldPaths, type View } from '../../output/view.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { showRun } from './progress.ts';
import { explainMissing, jobRequest, namedRun, partRows, partView, toneOf } from './runs.ts';

/** How Account Updater jobs are shown. Both addresses are secrets. */
export const jobView: View<AccountUpdaterJob> = {
  name: 'job',
  fields: fieldPaths('id tenant_id status created_by created_at expires_at upload_url errors download_url'),
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};

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
    const { createJobRequest } = await import('../../api/resources.ts');
    if (dryRun) return new Preview(createJobRequest());
    const client = await context.client();
    const job = await client.accountUpdater.create();
    noteNext(context, `created job ${job.id}; upload a file within the hour`, ['au', 'upload', job.id, '<file>']);
    await print(job);
  },
  request: async () => (await import('../../api/resources.ts')).createJobRequest(),
});

export const upload = defineCommand({
  description: 'The file is checked first. A job that has its file already is left alone: nothing is uploaded twice.',
  examples: [['svc au upload 5f0c… tokens.csv', 'then: svc au wait 5f0c…']],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 12, 13],
  changes: true,
  worksElsewhere: true,
  fields: jobView.fields,
  parameters: {
    job: argument('<job>', 'id of a pending job', text),
    file: argument('<file|->', 'a request file, or - for standard input', text),
    dryRun: dryRunParameter,
  },
  async run(context, { job, file, dryRun }): Promise<Result> {
    const { openJobFile } = await import('./check.ts');
    const { readJob } = await import('../../account-updater/job.ts');
    const { uploadAddress, uploadToJob } = await import('../../account-updater/upload.ts');
    const print = await recordPrinter(context, jobView);
    const { source } = await openJobFile(context, file);
    const client = await context.client();
    const pending = await explainMissing(context, job, readJob(client, job));
    if (dryRun) {
      const { uploadRequest } = await import('../../transfer/upload.ts');
      const request = uploadRequest(uploadAddress(pending, client), source.size);
      return new Preview({ ...request, file: { name: file, bytes: source.size } });
    }
    await uploadToJob(client, pending, source, { onEvent: showRun(context) });
    await print(await readJob(client, job));
  },
  request: async (_, { job }) => (await import('../../api/resources.ts')).readJobRequest(job),
});

export const status = defineCommand({
  examples: [
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, polled now'],
    ['svc au status 5f0c…', 'one job, with its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: [...new Set([...partView.fields, ...jobView.fields])],
  parameters: { of: argument('<job|run>', 'id of a job, or id or directory of a run', text) },
  async run(context, { of }) {
    const run = namedRun(context, of);
    if (run === undefined) return printJob(context, of);
    const print = await listPrinter(context, partView);
    const client = await context.client();
    const { pollJobs, workOn } = await import('../../account-updater/poll-parts.ts');
    const poll = (): Promise<void> => pollJobs(workOn(client, run, { onEvent: showRun(context) }));
    await run.hold(context.system, poll).catch((error: unknown) => {
      // Another process holds it, or the directory cannot be written: the record can be shown all the same.
      if (!isSvcError(error, 'config', 'local')) throw error;
      context.notices.note(`as recorded, not polled now: ${error.message}`);
    });
    await print(once(partRows(run.record)));
  },
  request: (context, { of }) => jobRequest(context, of),
});

async function printJob(context: Context, id: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../../account-updater/job.ts');
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}
