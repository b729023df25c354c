import type { RunRecord } from '../../account-updater/record.ts';
import { defineCommand } from '../../app/command.ts';
import { listPrinter, once } from '../../app/print.ts';
import { formatDuration } from '../../output/time.ts';
import type { View } from '../../output/view.ts';
import { everyRun, runRow, runView } from './runs.ts';

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

export const listRuns = defineCommand({
  description:
    'A run is a request file that was submitted, recorded in the state directory or in a --run-dir. The jobs of the service are listed with svc au jobs.',
  examples: [
    ['svc au runs', 'the runs recorded on this machine, the newest first'],
    ['svc au runs -o csv --fields run,status,cycle', 'for a script'],
  ],
  fields: localRunView.fields,
  paged: true,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, localRunView);
    const now = context.clock.now();
    const runs = everyRun(context).runs.filter(({ record }) => record.pruned_at === undefined);
    const rows = runs.map(({ record }) => localRun(record, now));
    await print(once(rows));
    if (rows.length === 0) context.notices.note('no runs are recorded on this machine');
  },
});

/** A run, and in words how long ago it was begun. */
function localRun(record: RunRecord, now: number) {
  const age = formatDuration(now - Date.parse(record.created_at)).replace(/ .*/, '');
  return { ...runRow(record), age };
}
