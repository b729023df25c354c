import { defineCommand } from '../../cli/command.ts';
import { dryRunParameter } from '../../cli/not-sent.ts';
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
  fields: jobView.fields,
  parameters: {
    job: argument('<job>', 'id of a pending job', text),
    file: argument('<file|->', 'a request file, or - for standard input', text),
    dryRun: dryRunParameter,
  },
  async run(context, { job, file, dryRun }) {
    const { openJobFile } = await import('../../cli/request-file.ts');
    const { readJob } = await import('../../runs/job.ts');
    const { uploadToJob } = await import('../../runs/upload.ts');
    const print = await recordPrinter(context, jobView);
    const { source } = await openJobFile(context, file);
    const client = await context.client({ dryRun, file });
    await uploadToJob(client, await readJob(client, job), source, { onEvent: showRun(context) });
    await print(await readJob(client, job));
  },
});
