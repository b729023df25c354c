import { basename } from 'node:path';
import { defineCommand } from '../../app/command.ts';
import { argument, flag, text } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { runView } from './view.ts';

const UNREADABLE = {
  status: 'damaged',
  created_at: null,
  cycle: null,
  file: null,
  rows: null,
  jobs: null,
  job_count: null,
} as const;

/** `svc au abandon` */
export const abandon = defineCommand({
  description:
    'For a run that cannot continue, for example because its input file is gone. Nothing is canceled at the service: jobs that have their file are processed and may be billed. Their results can still be downloaded, and --undo resumes the run. A run whose record cannot be read is moved to a directory named damaged beside it, after the newest jobs of the tenant have been shown.',
  examples: [
    ['svc au abandon run-20260131-0a1b2c3d-4e5f', 'show what the service has of it, and ask'],
    ['svc au abandon run-20260131-0a1b2c3d-4e5f --undo', 'resume it'],
    ['svc au download run-20260131-0a1b2c3d-4e5f', 'download the results of what was uploaded'],
  ],
  exitCodes: [5, 6],
  fields: runView.fields,
  parameters: {
    run: argument('<run>', 'id or directory of a run', text),
    undo: flag('--undo', 'resume an abandoned run'),
  },
  async run(context, { run: name, undo }) {
    const { abandonRun } = await import('./abandon-run.ts');
    const { setAside, unreadableRun } = await import('./set-aside-run.ts');
    const { runRow } = await import('./run-summary.ts');
    const print = await recordPrinter(context, runView);
    const unreadable = undo ? undefined : unreadableRun(context, name);
    if (unreadable) {
      const progress = await setAside(context, unreadable);
      const run = basename(unreadable.directory);
      return progress === undefined ? undefined : print({ ...UNREADABLE, run, progress });
    }
    const run = await abandonRun(context, name, undo);
    if (run) await print(runRow(run.record));
  },
});
