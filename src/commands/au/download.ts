import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { argument, flag, value } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import type { RunDirectory } from '../../runs/run-directory.ts';
import { downloadView } from '../../views/download.ts';

/** `svc au download` */
export const download = defineCommand({
  name: 'download',
  summary: 'the results of a completed job or run, whole or not at all',
  description:
    'The results of a job come byte for byte; those of a run are joined in the order of its input.',
  examples: [
    ['svc au download 5f0c… --out results.csv', 'a transfer that was cut off is continued'],
    ['svc au download run-20260131-0a1b2c3d-4e5f', 'every part of a run, as one file'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 10, 11, 12, 130],
  fields: downloadView.fields,
  parameters: {
    of: argument('<job|run>', 'id of a job, or id or directory of a run', text),
    out: value('--out <file>', 'where to write; by default results.csv', text),
    force: flag('--force', 'replace a file that exists'),
  },
  async run(context, { of, out, force }) {
    const { namedRun, resultsPlace } = await import('../../cli/runs.ts');
    const run = namedRun(context, of);
    if (run) await downloadRun(context, run, { out: out ?? resultsPlace(context, run.record), force });
    else await downloadJob(context, of, { out: out ?? 'results.csv', force });
  },
  async request(context, { of: name }) {
    return (await import('../../cli/runs.ts')).jobRequest(context, name);
  },
});

interface Target {
  readonly out: string;
  readonly force: boolean;
}

async function downloadJob(context: Context, job: string, { out, force }: Target): Promise<void> {
  const { orGoOnWith } = await import('../../runs/going-on.ts');
  const { downloadResults } = await import('../../runs/results.ts');
  const { inspectTarget } = await import('../../transfer/target.ts');
  const { showRun } = await import('../../cli/run-progress.ts');
  const print = await recordPrinter(context, downloadView);
  await inspectTarget(out, force);
  const client = await context.client();
  const options = { overwrite: force, host: context.system, onEvent: showRun(context) };
  const again = `svc au download ${job} --out ${out}`;
  const { bytes, sha256 } = await orGoOnWith(again, job, downloadResults(client, job, out, options));
  await print({ job, file: out, bytes, sha256 });
}

async function downloadRun(context: Context, run: RunDirectory, { out, force }: Target): Promise<void> {
  const { checkDestination } = await import('../../runs/write-results.ts');
  const { bringResults } = await import('../../cli/bring-results.ts');
  const print = await recordPrinter(context, downloadView);
  await checkDestination(run.record, { out, force });
  const { bytes, sha256 } = await run.hold(context.system, () => bringResults(context, run, { out, force }));
  await print({ job: run.record.id, file: out, bytes, sha256 });
}
