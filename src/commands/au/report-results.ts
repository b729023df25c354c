import fs from 'node:fs/promises';
import path from 'node:path';
import { reconcile, type Reconciliation, type Rereadable } from '../../account-updater/reconcile.ts';
import type { Report, ReportCode, SplitFile } from '../../account-updater/report-view.ts';
import {
  ACTION_GROUPS,
  actionFor,
  type ActionGroup,
  actionGroupOf,
  type Actions,
  type CodeCount,
  type ResultSummary,
  splitResults,
  stepFor,
  summarizeResults,
} from '../../account-updater/result-codes.ts';
import type { Context } from '../../app/command.ts';
import { requireFile, resolvePath } from '../../app/parameter.ts';
import { SvcError, systemCodeOf, writeFailure } from '../../errors.ts';
import { makeDirectory } from '../../files/directory.ts';
import { fileSource } from '../../transfer/source.ts';
import { Draft } from '../../files/draft.ts';
import { openRequestFile } from './request-file.ts';

/** What a report is made of. */
export interface ReportInput {
  /** Paths as typed. */
  readonly results: string;
  readonly request: string | undefined;
  readonly splitInto: string | undefined;
  readonly html: string | undefined;
  readonly actions: Actions;
  readonly force: boolean;
}

/** Counts a result file, holds it against its request where there is one, and writes the files asked for. */
export async function makeReport(context: Context, input: ReportInput): Promise<Report> {
  const { results, request, html, force, actions } = input;
  if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
  const page = html === undefined ? undefined : resolvePath(context, html);
  const split =
    input.splitInto === undefined
      ? undefined
      : {
          directory: resolvePath(context, input.splitInto),
          force,
          excelSafe: context.globals.excelSafe,
        };
  if (page !== undefined) await requireFile(page, force);
  if (split) await checkSplitTarget(split);
  const source = await fileSource(resolvePath(context, results));
  const asked = request === undefined ? undefined : await openRequestFile(context, atHome(context, request));
  const summary = await summarizeResults(source.open());
  const { codes, extraColumns, ...counts } = summary;
  const report: Report = {
    file: results,
    ...counts,
    codes: codes.map((code) => reportCode(code, summary, actions)),
    extra_columns: extraColumns,
    request:
      asked === undefined || request === undefined
        ? null
        : reportRequest(request, await reconcile(asked.source, source)),
    split: split ? await splitInto(source, split, actions) : null,
  };
  if (page !== undefined) await writePage(page, report, context.clock.now(), force);
  return report;
}

async function writePage(target: string, report: Report, now: number, force: boolean): Promise<void> {
  const { reportPage } = await import('../../account-updater/report-page.ts');
  const file = await Draft.begin(target);
  try {
    await file.write(reportPage(report, now));
    await file.finish(force);
  } finally {
    await file.discard();
  }
}

/** @throws SvcError `checksum_mismatch` when a row of the results answers no row of the request */
export function checkReconciled({ file, request }: Report): void {
  if (request === null) return;
  const { not_requested, duplicates, matched_by, mismatches, rows } = request;
  const facts = { not_requested, duplicates, mismatches };
  if (matched_by === 'count') {
    throw new SvcError(
      'truncated',
      `the rows of ${file} were counted only: ${request.file} holds too many tokens`,
      {
        hint: 'Results in the order of the request can be compared at any size: take those that the service or au download gave.',
        facts: { rows_requested: rows },
      },
    );
  }
  if (not_requested + duplicates === 0) return;
  const first = mismatches.slice(0, 3).map(({ row }) => row);
  throw new SvcError(
    'checksum_mismatch',
    `${not_requested + duplicates} rows of ${file} match no row of ${request.file}: ${first.join(', ')}${mismatches.length > 3 ? ' …' : ''}`,
    { hint: 'See that the two files belong together; else contact support with the job id.', facts },
  );
}

function atHome(context: Context, typed: string): string {
  return typed === '-' ? typed : resolvePath(context, typed);
}

function reportCode(
  { code, class: group, count, known, meaning }: CodeCount,
  { rows }: ResultSummary,
  actions: Actions,
): ReportCode {
  const share = count / rows;
  const [action, next] = [actionFor(code, actions), stepFor(code, actions)];
  return {
    code,
    class: group,
    count,
    share,
    known,
    meaning,
    action,
    next,
    group: actionGroupOf(code, true, actions),
  };
}

function reportRequest(file: string, found: Reconciliation): NonNullable<Report['request']> {
  const { requested, unchanged, notRequested, duplicates, matchedBy, mismatches } = found;
  return {
    file,
    rows: requested,
    unchanged,
    not_requested: notRequested,
    duplicates,
    matched_by: matchedBy,
    mismatches,
  };
}

/** Where a split goes. */
export interface SplitTarget {
  /** Made where it does not exist, private. */
  readonly directory: string;
  /** Takes a directory that holds something; files of an earlier split are replaced or removed. */
  readonly force: boolean;
  /** Whether the files are for a spreadsheet. */
  readonly excelSafe: boolean;
}

/** Looks at the directory before anything is read. @throws SvcError `usage` when it holds something, or is none */
async function checkSplitTarget({ directory, force }: SplitTarget): Promise<void> {
  try {
    if ((await fs.readdir(directory)).length === 0 || force) return;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return;
    if (systemCodeOf(error) !== 'ENOTDIR') throw writeFailure(directory, error);
    throw new SvcError('usage', `${directory} is not a directory`, {
      hint: 'Give a directory.',
      cause: error,
    });
  }
  throw new SvcError('usage', `${directory} is not empty`, {
    hint: 'Give another directory, or --force to replace the files of an earlier split.',
  });
}

interface OpenGroupFile {
  readonly file: Draft;
  rows: number;
}

/** Writes a file for each group that has rows; each whole, and none before all rows were read. */
async function splitInto(results: Rereadable, target: SplitTarget, actions: Actions): Promise<SplitFile[]> {
  const { directory, force, excelSafe } = target;
  makeDirectory(directory);
  const open = new Map<ActionGroup, OpenGroupFile>();
  try {
    for await (const rows of splitResults(results.open(), actions, excelSafe)) {
      for (const { group, header, line } of rows) {
        const into = open.get(group) ?? (await begin(open, group, directory, header));
        into.rows += 1;
        await into.file.write(line);
      }
    }
    for (const { file } of open.values()) await file.finish(force);
    if (force) await removeOthers(directory, open);
  } finally {
    for (const { file } of open.values()) await file.discard();
  }
  return ACTION_GROUPS.flatMap((group) => {
    const rows = open.get(group)?.rows;
    return rows === undefined ? [] : [{ file: fileOf(directory, group), rows }];
  });
}

async function begin(
  open: Map<ActionGroup, OpenGroupFile>,
  group: ActionGroup,
  directory: string,
  header: string,
): Promise<OpenGroupFile> {
  const file = await Draft.begin(fileOf(directory, group));
  const begun = { file, rows: 0 };
  open.set(group, begun);
  await file.write(header);
  return begun;
}

/** A group that has no rows this time must not look as if it had. */
async function removeOthers(directory: string, open: ReadonlyMap<ActionGroup, OpenGroupFile>): Promise<void> {
  for (const group of ACTION_GROUPS)
    if (!open.has(group)) await fs.rm(fileOf(directory, group), { force: true });
}

function fileOf(directory: string, group: ActionGroup): string {
  return path.join(directory, `${group}.csv`);
}
