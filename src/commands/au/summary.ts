import type { RunRecord } from '../../account-updater/record.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import type { Context } from '../../app/command.ts';
import { nextCommand } from '../../app/hint.ts';
import type { Summary } from '../../output/markdown.ts';
import { formatNumber } from '../../output/time.ts';
import { countedResults, type Results } from './results.ts';
import { actionsOf, partRows, shownStatus } from './runs.ts';

/** What is said of a run, for the summary. */
export async function describeRun(context: Context, run: RunDirectory): Promise<Summary> {
  const { record } = run;
  // Results that were moved away, or that the operator vouched for, may not be countable.
  const counting = record.results && countedResults(record, actionsOf(context, []));
  const summary = await runSummary(record, await counting?.catch(() => undefined));
  const next = [nextCommand(['au', 'wait', run.name], context.globals, context.system)];
  return shownStatus(record) === 'pending' ? { ...summary, commands: next } : summary;
}

/** A run in words: its ids, then the counts of its results by class and code, or how far each of its jobs is. */
async function runSummary(record: RunRecord, results: Results | undefined): Promise<Summary> {
  const { id, profile, cycle, input } = record;
  const parts = partRows(record);
  const facts: [string, string][] = [
    ['run', id],
    ['file', `${input.name}, ${formatNumber(input.rows)} rows`],
    ['jobs', parts.map(({ job }) => job ?? 'none yet').join(', ')],
    ['profile', cycle === undefined ? profile : `${profile}, cycle ${cycle}`],
  ];
  const title = `Account Updater: ${shownStatus(record)}`;
  if (results === undefined) {
    const rows = parts.map((part) => [
      String(part.part),
      formatNumber(part.rows),
      part.status,
      [part.progress, ...part.errors].join('; '),
    ]);
    return { title, facts, head: ['part', 'rows', 'status', 'progress'], rows };
  }
  const { updated, warned, errors, unknown, unchanged, codes, file } = results;
  const counts = { updated, warnings: warned, errors, unknown, unchanged };
  const counted = Object.entries(counts).map(([name, count]) => `${formatNumber(count)} ${name}`);
  const { CLASS_NAMES, shownCode } = await import('../../account-updater/report-view.ts');
  const rows = CLASS_NAMES.flatMap(([kind, name]) =>
    codes.flatMap((code) =>
      code.class === kind ? [[name, shownCode(code.code), formatNumber(code.count), code.action]] : [],
    ),
  );
  facts.push(['results', file], ['rows', counted.join(', ')]);
  return { title, facts, head: ['class', 'result code', 'rows', 'what to do'], rows };
}
