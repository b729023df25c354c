import { isSvcError, SvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import { compareShare } from '../../base/share.ts';
import type { Context } from '../../cli/app/command.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { wrapWords } from '../../cli/output/text.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import {
  actionFor,
  type Actions,
  type CodeCount,
  type ResultSummary,
  ROW_GROUPS,
  updateWarnings,
} from '../result-codes.ts';
import type { ResultsFile } from '../run/part.ts';
import type { Polled } from '../run/poll-parts.ts';
import { areCompared, recordedAt, rowsIn, type RunRecord } from '../run/record.ts';
import { jobsOf } from '../run/recorded-runs.ts';
import { shownStatus, toneOf } from '../run/run-view.ts';
import { actionsOf } from './action-option.ts';
import { countResults } from './download.ts';
import type { Threshold } from './fail-on.ts';
import { codeLines, warningOf } from './report-view.ts';
import { failOnMet } from './results-errors.ts';
import { type Trend, trendOf } from './trend.ts';

/** A submitted request file, with its results if the command waited for them. */
export type Submission = Omit<ReturnType<typeof submissionOf>, 'run' | 'status'> & {
  /** The id of the run; null if no row was new and so no run exists. */
  readonly run: string | null;
  readonly status: string;
  /** When the first job with rows of the file was created; null without such a job, and where the ledger does not say. Only `au submit` shows it. */
  readonly in_cycle_since?: string | null;
  /** Jobs of this key that were in no record when the upload began. */
  readonly unrecorded_jobs?: readonly string[];
  readonly results?: Results | Pick<Results, 'file'>;
};

/** The counts of a run's results. */
export interface Results
  extends Readonly<ResultsFile>, Omit<ResultSummary, 'rows' | 'groups' | 'codes' | 'extraColumns' | 'updates'> {
  /** Rows without a result, because nothing about them changed. */
  readonly unchanged: number;
  /** Whether each result was matched with a requested row of its token. */
  readonly compared: boolean;
  readonly codes: readonly Pick<CodeCount, 'code' | 'class' | 'count' | 'group' | 'action'>[];
}

/** The fields of written results, for the views of what has results. */
export const RESULT_FIELDS = `
  results.file results.bytes results.sha256 results.compared results.updated results.warned results.errors
  results.unknown results.unchanged results.codes
`;

export const submissionView: View<Submission> = {
  name: 'submission',
  fields: fieldPaths(`
    run status recorded_at file rows sent left_out left_out_errors in_cycle_since job jobs unrecorded_jobs
    ${RESULT_FIELDS}
  `),
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'file', kind: 'text', priority: 2 },
    { path: 'job', kind: 'id', priority: 1, repeats: ({ job }) => job === null },
    { path: 'jobs', kind: 'text', priority: 1, repeats: ({ job }) => job !== null },
    // Notes say what other jobs have, and since when.
    { path: 'sent', kind: 'number', repeats: ({ sent, rows }) => sent === rows },
    { path: 'left_out', kind: 'number', repeats: ({ left_out: rows }) => rows === 0 },
    { path: 'left_out_errors', kind: 'number', repeats: ({ left_out_errors: rows }) => !rows },
    { path: 'in_cycle_since', kind: 'time', repeats: ({ sent, rows }) => sent === rows },
  ],
};

/** What a shown status stands on: responses to this command, written results, or the record alone. */
export type Basis = Polled | 'results' | 'record';

/**
 * Returns the data shown for a run, without the counts of its results. Names the job if there is only one. What is only
 * recorded comes with its time.
 */
export function submissionOf(record: RunRecord, basis: Basis) {
  const { id, input, parts, unrecorded_jobs: unrecorded } = record;
  const jobs = jobsOf(record);
  return {
    run: id,
    status: shownStatus(record),
    file: input.name,
    rows: input.rows,
    sent: sentRows(record),
    left_out: input.rows - sentRows(record),
    left_out_errors: leftOutErrors(record),
    ...(basis === 'record' && { recorded_at: recordedAt(record) }),
    job: parts.length === 1 ? (jobs[0] ?? null) : null,
    jobs,
    ...(unrecorded && { unrecorded_jobs: unrecorded }),
  };
}

/** Returns the number of rows that this run sends itself. Other jobs of the cycle have the others. */
function sentRows({ parts }: RunRecord): number {
  return rowsIn(parts.filter(({ joined }) => joined === undefined));
}

/** Returns how many left-out rows have an error as their result, at most; null while the results are not known. */
function leftOutErrors({ parts, left_out_errors: errors }: RunRecord): number | null {
  return parts.some(({ joined }) => joined !== undefined) ? (errors ?? null) : 0;
}

/** Shows a run with written results. Then checks `--fail-on`. */
export async function showResults(
  context: Context,
  print: (submission: Submission) => Promise<void>,
  record: RunRecord,
  failOn?: Threshold,
): Promise<void> {
  const results = await countedResults(record, actionsOf(context, []), context);
  const trend = await noteOddities(context, record, results);
  await printResults<Submission>(context, print, submissionOf(record, 'results'), results, trend);
  checkThreshold(results, record.input.rows, failOn);
}

/** Prints a row with its results, as data for programs or as a chart for people. */
export async function printResults<T extends Pick<Submission, 'rows' | 'results'>>(
  context: Context,
  print: (row: T) => Promise<void>,
  row: T,
  results: Results,
  trend?: Trend,
): Promise<void> {
  if (!isDrawn(context)) return print({ ...row, results });
  await print({ ...row, results: { file: results.file } });
  await drawResults(context, row.rows, results, trend);
}

/**
 * Warns of results that are wrong as a whole or differ much from the last cycle, and compares them with it. Returns the
 * comparison, which is a line of the chart where one is drawn.
 */
export async function noteOddities(
  context: Context,
  record: RunRecord,
  results: Results,
  rows = record.input.rows,
): Promise<Trend | undefined> {
  const warning = warningOf(context, record, results.codes, rows);
  const trend = await trendOf(context, record, { ...results, rows });
  for (const odd of [warning, trend?.jump]) if (odd !== undefined) context.notices.warn(odd);
  if (trend && !isDrawn(context)) context.notices.note(trend.text);
  return trend;
}

/** Counts the results of a run. `actions` are the operator's choices for result codes. */
export async function countedResults(
  record: RunRecord,
  actions: Actions,
  showing?: Pick<Context, 'notices' | 'clock'>,
): Promise<Results> {
  const { results, input } = record;
  if (!results) throw new SvcError('bug', 'results were to be shown before they were written');
  const counted = await countedFile(
    results,
    input.rows,
    actions,
    showing && { notices: showing.notices, clock: showing.clock, name: shownPath(results.file) },
  ).catch((error: unknown) => {
    const isUnreadable = isSvcError(error, 'checksum_mismatch');
    throw isUnreadable ? error.with({ next: ['au', 'download', record.id, '--force'] }) : error;
  });
  return { ...counted, file: shownPath(results.file), compared: areCompared(record) };
}

/**
 * Counts a result file. `rows` is the number of requested rows. A command that shows the counts gives its notices, which
 * get warnings about updates without a new token or with one that has expired, and the name of the file for them.
 */
export async function countedFile(
  results: ResultsFile,
  rows: number,
  actions: Actions,
  showing?: Pick<Context, 'notices' | 'clock'> & { readonly name: string },
) {
  const { updated, warned, errors, unknown, unchanged, codes, updates } = await countResults(results.file, rows);
  for (const warning of showing ? updateWarnings(updates, showing.name, showing.clock.now()) : [])
    showing?.notices.warn(warning);
  return {
    ...results,
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
}

/** Checks the threshold of `--fail-on`. @throws SvcError `threshold` if more rows than allowed ended in its class */
export function checkThreshold(results: Results, rows: number, failOn?: Threshold): void {
  if (failOn === undefined) return;
  const { errors, warned, unknown } = results;
  const met = failOn.class === 'wrn' ? errors + warned + unknown : errors;
  if (compareShare(met, rows, failOn.share) > 0) throw failOnMet(met, failOn, results);
}

/** Draws the results as a chart with one bar per result code and what to do, below the shares of the last cycle. */
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
