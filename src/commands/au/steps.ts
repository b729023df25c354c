import {
  defineCommand,
  dryRunParameter,
  Preview,
  type PreviewRequest,
  type Result,
} from '../../app/command.ts';
import { noteNext } from '../../app/hint.ts';
import { argument, text } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { showRun } from './progress.ts';
import { jobView } from './view.ts';

/** `svc au create` */
export const create = defineCommand({
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
    const command = ['au', 'upload', job.id, '<file>'];
    noteNext(context, `created job ${job.id}; upload a file within the hour`, { command });
    await print(job);
  },
  request: createRequest,
});

async function createRequest(): Promise<PreviewRequest> {
  return (await import('../../api/resources.ts')).createJobRequest();
}

/** `svc au upload` */
export const upload = defineCommand({
  description:
    'The file is checked first. A job that has its file already is left alone: nothing is uploaded twice.',
  examples: [['svc au upload 5f0c… tokens.csv', 'then: svc au wait 5f0c…']],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 12, 13],
  worksElsewhere: true,
  fields: jobView.fields,
  parameters: {
    job: argument('<job>', 'id of a pending job', text),
    file: argument('<file|->', 'a request file, or - for standard input', text),
    dryRun: dryRunParameter,
  },
  async run(context, { job, file, dryRun }): Promise<Result> {
    const { openJobFile } = await import('./request-file.ts');
    const { readJob } = await import('../../account-updater/job.ts');
    const { uploadAddress, uploadToJob } = await import('../../account-updater/upload.ts');
    const print = await recordPrinter(context, jobView);
    const { source } = await openJobFile(context, file);
    const client = await context.client();
    const { explainMissing } = await import('./runs.ts');
    const pending = await explainMissing(context, job, readJob(client, job));
    if (dryRun) {
      const { uploadRequest } = await import('../../transfer/upload.ts');
      const request = uploadRequest(uploadAddress(pending, client), source.size);
      return new Preview({ ...request, file: { name: file, bytes: source.size } });
    }
    await uploadToJob(client, pending, source, { onEvent: showRun(context) });
    await print(await readJob(client, job));
  },
  async request(_, { job }) {
    return (await import('../../api/resources.ts')).readJobRequest(job);
  },
});
