import { EXIT_CODES } from '../../../base/errors.ts';
import { defineCommand } from '../../../cli/app/command.ts';
import { listPrinter, once } from '../../../cli/app/print.ts';
import { formatDuration } from '../../../cli/output/time.ts';
import type { View } from '../../../cli/output/view.ts';
import type { RunRecord } from '../../run/record.ts';
import { everyRun } from '../../run/recorded-runs.ts';
import { runRow, runView } from '../../run/run-view.ts';

const localRunView: View<ReturnType<typeof localRun>> = {
  name: 'run',
  fields: [...runView.fields, 'age'],
  columns: [
    ...runView.columns.slice(0, 2),
    { path: 'profile', kind: 'text', priority: 5 },
    { path: 'age', kind: 'text' },
    ...runView.columns.slice(3),
  ],
};

export const list = defineCommand({
  description:
    'A run is a request file that was submitted, recorded in the state directory or in a --run-dir. The jobs of the service are listed with svc au jobs.',
  examples: [
    ['svc au runs', 'the runs recorded on this machine, the newest first'],
    ['svc au runs -o csv --fields run,status,cycle', 'for a script'],
  ],
  exitCodes: [3],
  fields: localRunView.fields,
  paged: true,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, localRunView);
    const now = context.clock.now();
    const { runs, unreadable } = await everyRun(context);
    const listed = runs.filter(({ record }) => record.pruned_at === undefined);
    await print(once(listed.map(({ record }) => localRun(record, now))));
    if (unreadable.length > 0) return EXIT_CODES.config;
    if (listed.length === 0) context.notices.note('no runs are recorded on this machine');
    return 0;
  },
});

/** A run, and in words how long ago it was begun. */
function localRun(record: RunRecord, now: number) {
  const age = formatDuration(now - Date.parse(record.created_at)).replace(/ .*/, '');
  return { ...runRow(record), age };
}
