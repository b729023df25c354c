import { defineCommand } from '../../cli/command.ts';
import { argument, flag, value } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { showRun } from '../../cli/run-progress.ts';
import { text } from '../../cli/values.ts';
import { downloadView } from '../../views/download.ts';

/** `svc au download` */
export const download = defineCommand({
  name: 'download',
  summary: 'the results of a completed job, byte for byte, whole or not at all',
  examples: [['svc au download 5f0c… --out results.csv', 'a transfer that was cut off is continued']],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 10, 11, 12, 130],
  parameters: {
    job: argument('<job>', 'id of a job', text),
    out: value('--out <file>', 'where to write; by default results.csv', text),
    force: flag('--force', 'replace a file that exists'),
  },
  async run(context, { job, out, force }) {
    const { orGoOnWith } = await import('../../runs/going-on.ts');
    const { downloadResults } = await import('../../runs/results.ts');
    const { inspectTarget } = await import('../../transfer/target.ts');
    const path = out ?? 'results.csv';
    const print = await recordPrinter(context, downloadView);
    await inspectTarget(path, force);
    const client = await context.client();
    const command = `svc au download ${job} --out ${path}`;
    const results = downloadResults(client, job, path, {
      overwrite: force,
      host: context.system,
      onEvent: showRun(context),
    });
    const { bytes, sha256 } = await orGoOnWith(command, job, results);
    await print({ job, file: path, bytes, sha256 });
  },
});
