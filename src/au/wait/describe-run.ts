import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import type { Summary } from '../../cli/app/summary.ts';
import { formatNumber } from '../../cli/output/time.ts';
import { actionsOf } from '../results/action-option.ts';
import { CLASS_NAMES, shownCode, warningOf } from '../results/report-view.ts';
import { countedResults, type Results } from '../results/submission.ts';
import { trendOf } from '../results/trend.ts';
import type { RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { partRows, shownStatus } from '../run/run-view.ts';

/**
 * Describes a run for the summary of a CI step. `error` is the failure that ended the command, if any. `known` are results to
 * describe instead of those of the run.
 */
export async function describeRun(
  context: Context,
  run: RunDirectory,
  error?: unknown,
  known?: Results & { readonly rows: number },
): Promise<Summary> {
  const { record } = run;
  // Results that were moved or accepted as unproven may not be countable.
  const counting = record.results && countedResults(record, actionsOf(context, []));
  const results = known ?? (await counting?.catch(() => undefined));
  const rows = known?.rows ?? record.input.rows;
  const trend = results && (await trendOf(context, record, { ...results, rows }));
  const warning = results && warningOf(context, record, results.codes, rows);
  const summary = await runSummary(record, { results, warnings: [warning, trend?.jump], trend: trend?.text });
  if (shownStatus(record) !== 'pending') return summary;
  // After a failure, the service did not confirm in this command that the run is pending.
  if (error !== undefined && !isSvcError(error, 'pending')) return { ...summary, title: summaryTitle('not completed') };
  return { ...summary, commands: [nextCommand(['au', 'resume', run.name, '--wait'], context.globals, context.system)] };
}

export function summaryTitle(status: string): string {
  return `Account Updater: ${status}`;
}

/** The known facts about the results of a run. */
interface Outcome {
  readonly results: Results | undefined;
  /** The most important warnings. */
  readonly warnings: readonly (string | undefined)[];
  readonly trend: string | undefined;
}

/** Returns the summary of a run: its ids, then either the counts of its results or the progress of each job. */
async function runSummary(record: RunRecord, { results, warnings, trend }: Outcome): Promise<Summary> {
  const { id, profile, cycle, input } = record;
  const parts = partRows(record);
  const facts: [string, string][] = [
    ...warnings.flatMap((warning): [string, string][] => (warning === undefined ? [] : [['warning', warning]])),
    ['run', id],
    ['file', `${input.name}, ${formatNumber(input.rows)} rows`],
    ['jobs', parts.map(({ job }) => job ?? 'none yet').join(', ')],
    ['profile', cycle === undefined ? profile : `${profile}, cycle ${cycle}`],
  ];
  const title = summaryTitle(shownStatus(record));
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
  const rows = CLASS_NAMES.flatMap(([kind, name]) =>
    codes.flatMap((code) =>
      code.class === kind ? [[name, shownCode(code.code), formatNumber(code.count), code.action]] : [],
    ),
  );
  facts.push(['results', file], ['rows', counted.join(', ')]);
  if (trend !== undefined) facts.push(['shares', trend]);
  return { title, facts, head: ['class', 'result code', 'rows', 'what to do'], rows };
}
