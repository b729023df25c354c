import { EXIT_CODES } from '../../../base/errors.ts';
import { shownPath } from '../../../base/files/names.ts';
import { type Context, defineCommand } from '../../../cli/app/command.ts';
import { noteNext } from '../../../cli/app/hint.ts';
import { value } from '../../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../../cli/app/print.ts';
import { positiveDuration } from '../../../cli/app/value-parsers.ts';
import { countText, formatDuration } from '../../../cli/output/time.ts';
import type { View } from '../../../cli/output/view.ts';
import { LONGEST_JOB_MS } from '../../../schema/account-updater-files.ts';
import { isOpen, isUntouched, openSince, type RunRecord } from '../../run/record.ts';
import { everyRun } from '../../run/recorded-runs.ts';
import type { RunDirectory } from '../../run/run-directory.ts';
import { runRow, runView } from '../../run/run-view.ts';

const localRunView: View<ReturnType<typeof localRun>> = {
  name: 'run',
  fields: [...runView.fields, 'age', 'left', 'results'],
  columns: [
    ...runView.columns.slice(0, 2),
    { path: 'profile', kind: 'text', priority: 1 },
    { path: 'age', kind: 'text' },
    { path: 'left', kind: 'text', priority: 6 },
    ...runView.columns.slice(3, -1),
    // Half a path cannot be copied, so these are shown whole or not at all.
    { path: 'file', kind: 'id', priority: 3 },
    { path: 'results', kind: 'id', priority: 0 },
  ],
};

export const list = defineCommand({
  description:
    "A run is a submitted request file, recorded in the state directory. 'svc au jobs' lists the jobs of the service.",
  examples: [
    ['svc au runs', 'the runs recorded on this machine, the newest first'],
    ['svc au runs --stale 8d', 'runs open for longer than any job takes, with exit code 10'],
    ['svc au runs -o csv --fields run,status,cycle', 'for a script'],
  ],
  exitCodes: [3, [10, 'there are runs that --stale selects']],
  fields: localRunView.fields,
  paged: true,
  parameters: {
    stale: value(
      '--stale <duration>',
      'only open runs that were uploaded longer ago, such as 8d; exit with 10 if there are any',
      positiveDuration,
    ),
  },
  async run(context, { stale }) {
    const print = await listPrinter(context, localRunView);
    const now = context.clock.now();
    const { runs, unreadable } = await everyRun(context);
    const listed = runs.filter(({ record }) => record.pruned_at === undefined);
    const isStale = ({ record }: RunDirectory): boolean => isOpen(record) && now - openSince(record) > (stale ?? 0);
    const shown = stale === undefined ? listed : listed.filter(isStale);
    await print(oneBatch(shown.map(({ record }) => localRun(record, now))));
    if (shown.length > 0 && stale !== undefined) noteNext(context, 'to poll them', ['au', 'resume']);
    // A run whose record is unreadable may still be open.
    if (unreadable.length > 0) return EXIT_CODES.config;
    if (shown.length === 0) noteNone(context, listed.length);
    return shown.length > 0 && stale !== undefined ? EXIT_CODES.threshold : 0;
  },
});

function noteNone({ notices }: Context, recorded: number): void {
  if (recorded === 0) return notices.note('no runs are recorded on this machine');
  notices.note(`no run is stale (${countText(recorded, 'run')} recorded on this machine)`);
}

/** Returns a run with its age, the longest time its jobs can still take, and the path of its results. */
function localRun(record: RunRecord, now: number) {
  const age = firstUnit(now - Date.parse(record.created_at));
  return { ...runRow(record), age, left: timeLeft(record, now), results: resultsFile(record) };
}

function timeLeft(record: RunRecord, now: number): string | null {
  if (!isOpen(record) || isUntouched(record)) return null;
  const left = openSince(record) + LONGEST_JOB_MS - now;
  return left > 0 ? `at most ${firstUnit(left)}` : `late by ${firstUnit(-left)}`;
}

/** Returns the larger unit of a duration, such as `6d`. */
function firstUnit(ms: number): string {
  return formatDuration(ms).replace(/ .*/, '');
}

/** Returns the path of the results, relative if they are below the current directory; null if there are none. */
function resultsFile({ results }: RunRecord): string | null {
  return results === undefined ? null : shownPath(results.file);
}
