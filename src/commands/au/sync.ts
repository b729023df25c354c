import { defineCommand } from '../../app/command.ts';
import { flag, text, value } from '../../app/parameter.ts';
import { listPrinter, once } from '../../app/print.ts';
import { runView } from './view.ts';

/** `svc au sync` */
export const sync = defineCommand({
  description:
    'Polls all open runs of this profile, uploads what is left, downloads and writes the results of those that are done. Exits with 0 when none is left open, with 9 when it is unknown whether the service has a file, with 12 when downloaded results could not be verified, else with 11. Where the result file exists already or its directory is gone, the results are kept with the run. Several may run at the same time.',
  examples: [
    ['svc au sync', 'from cron, say every half hour'],
    [
      "svc au sync --exec 'mail-results'",
      'run a command for each completed run, given as JSON on standard input',
    ],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [1, 3, 9, 10, 11, 12],
  worksElsewhere: true,
  fields: runView.fields,
  parameters: {
    dryRun: flag('--dry-run', 'show what would be done with each run, and do nothing'),
    exec: value(
      '--exec <command>',
      'a shell command to run for each run that completes; it is run again by the next sync if it fails',
      text,
    ),
  },
  async run(context, { exec, dryRun }) {
    const { planSync, syncRuns } = await import('./sync-runs.ts');
    const { runRow } = await import('./run-summary.ts');
    const print = await listPrinter(context, runView);
    if (dryRun) return void (await print(once(planSync(context, exec).map(runRow))));
    const { records, code } = await syncRuns(context, exec);
    await print(once(records.map(runRow)));
    return code;
  },
});
