import fs from 'node:fs/promises';
import path from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { Draft, writeWhole } from '../../base/files/draft.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, type Input, optionalArgument, value } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { requireRequestAndResults } from '../request/wrong-file.ts';
import { actionParameter, actionsOf } from '../results/action-option.ts';
import { keepParameter, type KeptColumns, openKept } from '../results/kept-columns.ts';
import { reconcile, type Rereadable } from '../results/reconcile.ts';
import type { PageSubject } from '../results/report-page.ts';
import {
  dominanceWarning,
  drawReport,
  type Report,
  type ReportRequest,
  reportView,
  wholeOf,
} from '../results/report-view.ts';
import {
  actionFor,
  type Actions,
  groupOf,
  GROUPS,
  type RowGroup,
  splitResults,
  summarizeResults,
} from '../results/result-codes.ts';
import { knownRunsRoot } from '../run/recorded-runs.ts';
import { listRuns } from '../run/run-directory.ts';
import { trendOf } from '../results/trend.ts';
import { filesOfRun, runParameter } from '../run/run-files.ts';
import { tenantOf } from '../run/run-view.ts';

const parameters = {
  results: optionalArgument('[results]', 'a result file', text),
  run: runParameter,
  request: value('--request <file>', 'the request file of these results', text),
  splitInto: value(
    '--split-into <dir>',
    `write a file for each thing to do that has rows: ${GROUPS.map((group) => `${group}.csv`).join(', ')}`,
    text,
  ),
  keep: keepParameter,
  html: value('--html <file>', 'write the report as one page with charts', text),
  action: actionParameter,
  force: flag('--force', 'replace files that exist'),
} as const;

export const report = defineCommand({
  description:
    'Works offline, on files of any size. Unknown codes and columns are kept and shown. With --request or --run, each row must match a row of the request, else the exit code is 12.',
  examples: [
    ['svc au report results.csv', 'counts, shares and next steps as bars'],
    ['svc au report results.csv --request tokens.csv', 'is each row accounted for?'],
    ['svc au report --run run-20260105-0a1b2c3d-4e5f', 'the same for a run, whatever became of its request file'],
    ['svc au report results.csv --split-into todo', 'a file for each thing to do'],
    [
      'svc au report results.csv --split-into todo --keep tokens.keep.csv',
      'with the columns that svc au prepare --keep wrote',
    ],
    ['svc au report results.csv --html report.html', 'one page to print or to pass on'],
  ],
  exitCodes: [3, 5, 12, 13],
  paged: true,
  fields: reportView.fields,
  parameters,
  async run(context, input) {
    const print = await recordPrinter(context, reportView);
    if (input.keep !== undefined && input.splitInto === undefined)
      throw new SvcError('usage', '--keep needs --split-into', { hint: 'Its columns go into the files of the split.' });
    const files = await filesToRead(context, input);
    const made = await makeReport(context, { ...input, ...files });
    const { tenant, trend } = await subjectOf(context, resolvePath(context, files.results));
    if (trend?.jump !== undefined) context.notices.warn(trend.jump);
    if (trend) context.notices.note(trend.text);
    if (isDrawn(context)) {
      const { palette, unicode, plain, out } = context;
      const columns = out.isTerminal ? out.width : Infinity;
      await out.write(drawReport(made, { palette, unicode, plain, columns, tenant }));
    } else {
      const warning = dominanceWarning(made.codes, wholeOf(made), tenant);
      if (warning !== undefined) context.notices.warn(warning);
      await print(made);
    }
    requireReconciled(made);
  },
});

/** Returns the named files, or else the files of the run. @throws SvcError `usage` without either */
async function filesToRead(context: Context, { results, request, run }: Input<typeof parameters>) {
  if (run !== undefined) return filesOfRun(context, run, { results, request });
  if (results !== undefined) return { results, request };
  throw new SvcError('usage', 'a result file is missing', {
    hint: 'Name a result file, or a run with --run.',
    next: ['au', 'runs'],
  });
}

type ReportInput = Input<typeof parameters> & Awaited<ReturnType<typeof filesToRead>>;

/** Counts a result file, compares it with its request if there is one, and writes the requested files. */
async function makeReport(context: Context, input: ReportInput): Promise<Report> {
  const { results, request, html, splitInto, force } = input;
  if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
  const actions = actionsOf(context, input.action);
  const page = html === undefined ? undefined : resolvePath(context, html);
  const directory = splitInto === undefined ? undefined : resolvePath(context, splitInto);
  const kept = await openKept(context, input.keep);
  if (page !== undefined) await requireFile(page, force);
  if (directory !== undefined) await requireSplitDirectory(directory, force);
  await requireRequestAndResults(context, {
    request,
    results,
    words: (ofRequest, ofResults) => ['au', 'report', ofResults, '--request', ofRequest],
  });
  const source = await fileSource(resolvePath(context, results));
  const compared = request === undefined ? null : await compare(context, request, source);
  const { codes, extraColumns, ...counts } = await summarizeResults(source.open(), actions);
  const whole = wholeOf({ rows: counts.rows, request: compared });
  const made: Report = {
    file: results,
    ...counts,
    codes: codes.map(({ code, class: group, count, known, meaning }) => ({
      code,
      class: group,
      count,
      share: count / whole,
      known,
      meaning,
      action: actionFor(code, actions),
      group: groupOf(code, true, actions),
    })),
    extra_columns: extraColumns,
    request: compared,
    split:
      directory === undefined
        ? null
        : await split(source, directory, { force, excelSafe: context.globals.excelSafe, actions, kept }),
  };
  kept?.warnOfMissing(context);
  if (page !== undefined) await writePage(context, page, made, { results: resolvePath(context, results), force });
  return made;
}

async function compare(context: Context, typed: string, results: Rereadable): Promise<ReportRequest> {
  const { source } = await openRequestFile(context, typed === '-' ? typed : resolvePath(context, typed));
  const { requested, unchanged, notRequested, duplicates, matchedBy, mismatches } = await reconcile(source, results);
  return {
    file: typed,
    rows: requested,
    unchanged,
    not_requested: notRequested,
    duplicates,
    matched_by: matchedBy,
    mismatches,
  };
}

/**
 * Checks the comparison with the request.
 * @throws SvcError `checksum_mismatch` for a result row without a request row, `truncated` for a request too large to
 *   compare
 */
function requireReconciled({ file, request }: Report): void {
  if (request === null) return;
  const { not_requested, duplicates, matched_by, mismatches, rows } = request;
  const facts = { not_requested, duplicates, mismatches };
  if (matched_by === 'count') {
    throw new SvcError('truncated', `the rows of ${file} were counted only: ${request.file} contains too many tokens`, {
      hint: 'Results in the order of the request can be compared at any size: use them as they were downloaded.',
      facts: { rows_requested: rows },
    });
  }
  if (not_requested + duplicates === 0) return;
  const first = mismatches.slice(0, 3).map(({ row }) => row);
  throw new SvcError(
    'checksum_mismatch',
    `no row of ${request.file} matches ${countText(not_requested + duplicates, 'row')} of ${file}: ${first.join(', ')}${mismatches.length > 3 ? ' …' : ''}`,
    { hint: 'Check that the two files belong together; else contact support with the job id.', facts },
  );
}

async function writePage(
  context: Context,
  target: string,
  made: Report,
  { results, force }: { readonly results: string; readonly force: boolean },
): Promise<void> {
  const { reportPage } = await import('../results/report-page.ts');
  const page = reportPage(made, { madeAt: context.clock.now(), ...(await subjectOf(context, results)) });
  await writeWhole(target, force, (draft) => draft.write(page));
}

/** Finds the run that wrote a result file, and its tenant, if it is recorded on this machine. */
async function subjectOf(context: Context, results: string): Promise<Pick<PageSubject, 'run' | 'tenant' | 'trend'>> {
  const root = knownRunsRoot(context);
  const runs = root === undefined ? [] : (await listRuns(root)).runs;
  const record = runs.find((run) => run.record.results?.file === results)?.record;
  if (record === undefined) return {};
  const trend = record.counts && (await trendOf(context, record, record.counts));
  return { run: record.id, tenant: tenantOf(context, record), trend };
}

/**
 * Checks the output directory before anything is read.
 * @throws SvcError `usage` for a nonempty directory or another file
 */
async function requireSplitDirectory(directory: string, force: boolean): Promise<void> {
  try {
    if ((await fs.readdir(directory)).length === 0 || force) return;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return;
    if (systemCodeOf(error) !== 'ENOTDIR') throw writeFailure(directory, error);
    throw new SvcError('usage', `${directory} is not a directory`, { hint: 'Give a directory.', cause: error });
  }
  throw new SvcError('usage', `${directory} is not empty`, {
    hint: 'Give another directory, or --force to replace the files of an earlier split.',
  });
}

interface SplitOptions {
  /** Whether to replace or remove files of an earlier split. */
  readonly force: boolean;
  readonly excelSafe: boolean;
  readonly actions: Actions;
  readonly kept: KeptColumns | undefined;
}

/** Writes a file for each group that has rows. No file appears before all rows are read. */
async function split(results: Rereadable, directory: string, { force, ...rules }: SplitOptions) {
  makeDirectory(directory);
  const fileOf = (group: RowGroup): string => path.join(directory, `${group}.csv`);
  const open = new Map<RowGroup, { readonly file: Draft; rows: number }>();
  try {
    for await (const rows of splitResults(results.open(), rules)) {
      for (const { group, header, line } of rows) {
        let into = open.get(group);
        if (into === undefined) {
          into = { file: await Draft.begin(fileOf(group)), rows: 0 };
          open.set(group, into);
          await into.file.write(header);
        }
        into.rows += 1;
        await into.file.write(line);
      }
    }
    // If the disk is full, no file gets its final name.
    for (const { file } of open.values()) await file.seal();
    for (const { file } of open.values()) await file.finish(force);
    // A file of an earlier split would suggest that a now empty group has rows.
    for (const group of GROUPS) if (force && !open.has(group)) await fs.rm(fileOf(group), { force: true });
  } finally {
    for (const { file } of open.values()) await file.discard();
  }
  return GROUPS.flatMap((group) => {
    const rows = open.get(group)?.rows;
    return rows === undefined ? [] : [{ file: fileOf(group), rows }];
  });
}
