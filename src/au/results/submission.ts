// Counts the results of a file or cycle, and prints them after `au submit` and `au resume`.

import { isSvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import { compareShare } from '../../base/share.ts';
import type { Context } from '../../cli/app/command.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { tenantText } from '../../cli/app/tenant-mark.ts';
import { wrapWords } from '../../cli/output/wrap.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { toneOf } from '../job/job-view.ts';
import {
  actionFor,
  type Actions,
  type CodeCount,
  type ResultSummary,
  ROW_GROUPS,
  updateWarnings,
} from '../result-codes.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { actionsOf } from './action-option.ts';
import { countResults } from './download.ts';
import type { Threshold } from './fail-on.ts';
import { type DeliveredResults, nextFileOf, type ResultsFile } from './merge.ts';
import { codeLines, dominanceWarning } from './report-view.ts';
import { failOnError } from './results-errors.ts';
import { type Trend, compareWithLastCycle } from './trend.ts';

/** A submitted request file, with its results if the command waited for them. */
export interface Submission {
  readonly status: string;
  readonly file: string;
  /** The cycle, if the operator named one. */
  readonly cycle: string | null;
  readonly rows: number;
  /** The rows that were sent from this file. Jobs of other files of the cycle have the others. */
  readonly sent: number;
  readonly left_out: number;
  /** The largest possible number of left-out rows with an error; null while the results are not known. */
  readonly left_out_errors: number | null;
  /** When the first job with rows of the file was created; null without such a job. */
  readonly in_cycle_since: string | null;
  /** The job, if there is only one. */
  readonly job: string | null;
  readonly jobs: readonly string[];
  readonly results?: Results | Pick<Results, 'file'>;
}

/** The counts of results. */
export interface Results
  extends Readonly<ResultsFile>, Omit<ResultSummary, 'rows' | 'groups' | 'codes' | 'extra_columns' | 'updates'> {
  /** Rows without a result: their cards did not change. */
  readonly unchanged: number;
  /** Whether each result was matched with a requested row. */
  readonly compared: boolean;
  readonly codes: readonly Pick<CodeCount, 'code' | 'class' | 'count' | 'group' | 'action'>[];
}

/** The fields of results, for the views of submissions and cycles. */
export const RESULT_FIELDS = `
  results.file results.bytes results.sha256 results.compared results.updated results.warned results.errors
  results.unknown results.unchanged results.codes
`;

export const submissionView: View<Submission> = {
  name: 'submission',
  fields: fieldPaths(`
    status file cycle rows sent left_out left_out_errors in_cycle_since job jobs
    ${RESULT_FIELDS}
  `),
  columns: [
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'file', kind: 'text', priority: 2 },
    { path: 'cycle', kind: 'text', priority: 3, repeats: ({ cycle }) => cycle === null },
    { path: 'job', kind: 'id', priority: 1, repeats: ({ job }) => job === null },
    { path: 'jobs', kind: 'text', priority: 1, repeats: ({ job }) => job !== null },
    // Notes say what other jobs have, and since when.
    { path: 'sent', kind: 'number', repeats: ({ sent, rows }) => sent === rows },
    { path: 'left_out', kind: 'number', repeats: ({ left_out: rows }) => rows === 0 },
    { path: 'left_out_errors', kind: 'number', repeats: ({ left_out_errors: rows }) => !rows },
    { path: 'in_cycle_since', kind: 'time', repeats: ({ sent, rows }) => sent === rows },
  ],
};

/** Prints a submission or cycle with its results: as data for programs, or as a chart for people. */
export async function printResults<T extends Pick<Submission, 'rows' | 'results'>>(
  context: Context,
  print: (row: T) => Promise<void>,
  row: T,
  { results, trend }: Pick<Counted, 'results' | 'trend'>,
): Promise<void> {
  if (!isDrawn(context)) return print({ ...row, results });
  await print({ ...row, results: { file: results.file } });
  await drawResults(context, row.rows, results, trend);
}

/** Counted results, with their comparison with the last cycle. */
export interface Counted {
  readonly results: Results;
  /** The results in a command to run next. */
  readonly nextFile: string;
  /** The number of requested rows. */
  readonly rows: number;
  /** Undefined if the ledger does not respond in time. */
  readonly trend: Trend | undefined;
}

interface CountOptions {
  readonly rows: number;
  readonly actions?: Actions | undefined;
  /** The file, as output and warnings name it. */
  readonly name?: string | undefined;
}

/** Counts the results of a file or cycle, compares them with the last cycle, and warns of oddities, such as expired new cards. */
export async function countCycle(
  context: Context,
  cycle: { readonly name: string; readonly tenant: string },
  { compared, ...delivered }: DeliveredResults & Pick<Results, 'compared'>,
  { rows, actions = actionsOf(context, []), name = shownPath(delivered.file) }: CountOptions,
): Promise<Counted> {
  const { notices, clock } = context;
  const { updated, warned, errors, unknown, unchanged, codes, updates } = await countResults(delivered.copy, rows);
  for (const warning of updateWarnings(updates, name, clock.now())) notices.warn(warning);
  const results: Results = {
    file: name,
    bytes: delivered.bytes,
    sha256: delivered.sha256,
    compared,
    updated,
    warned,
    errors,
    unknown,
    unchanged,
    codes: codes.map(({ code, class: kind, count, group }) => ({
      code,
      class: kind,
      count,
      group: actions.get(code) ?? group,
      action: actionFor(code, actions),
    })),
  };
  const read = await readIfPossible(context, (limited) => {
    const ledger = new CommandLedger(limited, { onlyReads: true });
    return compareWithLastCycle({ ledger, tenant: cycle.tenant, cycle: cycle.name }, { ...results, rows });
  });
  const trend = isSvcError(read) ? undefined : read;
  const warning = dominanceWarning(results.codes, rows, tenantText(context, cycle.tenant));
  for (const odd of [warning, trend?.jump]) if (odd !== undefined) notices.warn(odd);
  if (trend && !isDrawn(context)) notices.note(trend.text);
  return { results, nextFile: nextFileOf(delivered, name), rows, trend };
}

/** Checks the threshold of `--fail-on`. @throws SvcError `threshold` if more rows than allowed ended in its class */
export function checkThreshold(
  { results, nextFile, rows }: Pick<Counted, 'results' | 'nextFile' | 'rows'>,
  failOn?: Threshold,
): void {
  if (failOn === undefined) return;
  const { errors, warned, unknown } = results;
  const met = failOn.class === 'wrn' ? errors + warned + unknown : errors;
  if (compareShare(met, rows, failOn.share) > 0) throw failOnError(met, failOn, { ...results, nextFile });
}

/** Draws a chart with a bar and an action for each result code. */
export async function drawResults(
  { palette, unicode, plain, out }: Context,
  rows: number,
  { updated, warned, errors, unknown, unchanged, codes }: Results,
  trend?: Trend,
): Promise<void> {
  const columns = out.isTerminal ? out.width : Infinity;
  const unknownWords = unknown > 0 ? `, ${formatNumber(unknown)} with unknown codes` : '';
  const total = `${countText(rows, 'row')}: ${formatNumber(updated)} updated, ${countText(warned, 'warning')}, ${countText(errors, 'error')}, ${formatNumber(unchanged)} unchanged${unknownWords}`;
  const title = wrapWords(total, columns).map((line) => palette.strong(line));
  const short = codes.map((code) => ({ ...code, action: ROW_GROUPS[code.group] }));
  const lines = short.length === 0 ? [] : ['', ...codeLines(short, { palette, unicode, plain, columns })];
  const shares = trend === undefined ? [] : wrapWords(trend.text, columns);
  await out.write(['', ...title, ...shares, ...lines, ''].join('\n'));
}
