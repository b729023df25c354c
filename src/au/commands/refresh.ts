import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand, Preview, type PreviewRequest } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, flag, type Input, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { openSummary, summaryParameter } from '../../cli/app/summary.ts';
import { text } from '../../cli/app/value-parsers.ts';
import type { View } from '../../cli/output/view.ts';
import type { RefreshInput } from '../refresh/refresh-input.ts';
import type { RefreshRow } from '../refresh/request-steps.ts';
import { exportParameters } from '../request/prepare-options.ts';
import { actionParameter } from '../results/action-option.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { cycleName } from '../run/cycle-name.ts';
import { toneOf } from '../run/run-view.ts';
import { noUnrecordedJobsParameter, otherJobParameter } from '../run/unrecorded-option.ts';

const refreshView: View<RefreshRow> = {
  name: 'refresh',
  fields: [
    'cycle',
    'status',
    'rows',
    'run',
    'request',
    'results',
    'updated',
    'warned',
    'errors',
    'unchanged',
    'report',
    'next',
    'next_rows',
    'excluded',
    'exclusions',
  ],
  columns: [
    { path: 'cycle', kind: 'text' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'updated', kind: 'number' },
    { path: 'warned', kind: 'number', priority: 2 },
    { path: 'errors', kind: 'number' },
    { path: 'report', kind: 'text', priority: 1 },
    { path: 'next', kind: 'text' },
  ],
};

const parameters = {
  export: argument('<export|->', 'a CSV export of tokens, or - for standard input', text),
  cycle: value('--cycle <name>', 'name of this refresh, such as 2026-12', cycleName),
  ...exportParameters,
  outDir: value('--out-dir <dir>', 'directory for all cycles (default: refresh)', text),
  noWait: flag('--no-wait', 'poll once, and end with 11 while a job is pending'),
  onlyNew: flag('--only-new', 'leave out rows that any other run of the cycle has'),
  dryRun: flag('--dry-run', 'show what would be submitted; write and send nothing'),
  noUnrecordedJobs: noUnrecordedJobsParameter,
  otherJob: otherJobParameter,
  action: actionParameter,
  failOn: failOnParameter,
  summary: summaryParameter,
} as const;

type Typed = Input<typeof parameters>;

export const refresh = defineCommand({
  description:
    'Does what svc au prepare, submit, wait, report and next do, one after the other. The same command continues with the first unfinished step, even without the export.',
  details:
    'Each step names the command that does it alone. Below --out-dir, a directory for each cycle contains request.csv, results.csv, report.html and next.csv; exclusions.csv beside it lists closed accounts, which are left out of every later request. Another export in the same cycle submits only the rows that are new, and its files have a number. A file of such a name that the refresh did not write is never replaced.',
  examples: [
    ['svc au refresh export.csv --cycle 2026-12', 'from the export to the next request'],
    ['svc au refresh export.csv --cycle 2026-12 --no-wait', 'from cron or CI: exit code 11 while a job is pending'],
    [
      'svc au refresh export.csv --cycle 2026-12 --fail-on err=5%',
      'stop before the next request if too many rows failed',
    ],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [3, 6, 9, 10, 11, 12, 13, 130],
  changes: true,
  fields: refreshView.fields,
  parameters,
  async run(context, typed) {
    const input = { ...inputOf(context, typed), summarize: await openSummary(context, typed.summary) };
    if (typed.dryRun && context.globals.curl) return new Preview(await firstRequest());
    const print = await recordPrinter(context, refreshView);
    const { planRefresh, refreshCycle } = await import('../refresh/refresh.ts');
    return typed.dryRun ? planRefresh(context, input) : refreshCycle(context, input, print);
  },
  async request(context, typed): Promise<PreviewRequest> {
    inputOf(context, typed);
    return firstRequest();
  },
});

async function firstRequest(): Promise<PreviewRequest> {
  return (await import('../../client/api/resources.ts')).createJobRequest();
}

function inputOf(context: Context, typed: Typed): Omit<RefreshInput, 'summarize'> {
  const { export: name, cycle, map, dateOrder, keep, maxRejects, outDir = 'refresh', noWait, onlyNew } = typed;
  const { failOn, action, noUnrecordedJobs, otherJob } = typed;
  if (cycle === undefined)
    throw new SvcError('usage', '--cycle is missing', {
      hint: 'Name this refresh, so that a row is paid for only once within it:',
      next: ['au', 'refresh', name, '--cycle', new Date(context.clock.now()).toISOString().slice(0, 7)],
    });
  const options = [
    ...map.flatMap((column) => option('--map', `${column.column}=${column.name}`)),
    ...option('--date-order', dateOrder),
    ...option('--keep', keep),
  ];
  const again = [
    'au',
    'refresh',
    name,
    '--cycle',
    cycle,
    ...options,
    ...option('--max-rejects', maxRejects?.words),
    ...option('--out-dir', typed.outDir),
    ...(noWait ? ['--no-wait'] : []),
    ...(onlyNew ? ['--only-new'] : []),
    ...(noUnrecordedJobs ? ['--no-unrecorded-jobs'] : []),
    ...option('--other-job', otherJob),
    ...option(
      '--action',
      action.map(([code, step]) => `${code}=${step}`),
    ),
    ...option('--fail-on', failOn?.words),
    ...option('--summary', typed.summary),
  ];
  const how = { columns: map, dateOrder, keep };
  return {
    export: name,
    cycle,
    parent: outDir,
    how,
    options,
    maxRejects,
    wait: !noWait,
    onlyNew,
    failOn,
    action,
    noUnrecordedJobs,
    otherJob,
    again,
  };
}
