import { defineCommand, type Result } from '../../cli/command.ts';
import { dryRunParameter, Preview } from '../../cli/preview.ts';
import { argument } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { showRun } from '../../cli/run-progress.ts';
import { text } from '../../cli/values.ts';
import { jobView } from '../../views/job.ts';

/** `svc au upload` */
export const upload = defineCommand({
  name: 'upload',
  summary: 'upload a request file to a pending job (a single step; submit does it all)',
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
    const { openJobFile } = await import('../../cli/request-file.ts');
    const { readJob } = await import('../../runs/job.ts');
    const { uploadAddress, uploadToJob } = await import('../../runs/upload.ts');
    const print = await recordPrinter(context, jobView);
    const { source } = await openJobFile(context, file);
    const client = await context.client();
    const { explainMissing } = await import('../../cli/runs.ts');
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
    return (await import('../../api/account-updater.ts')).readJobRequest(job);
  },
});
