// `svc au report`: counts a results file, compares it with its request, and writes the page and the split files.

import fs from 'node:fs/promises';
import path from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { isSamePath } from '../../base/files/names.ts';
import { Draft, removeAbandonedDrafts, writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { namedFiles, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { endingWith, openRequestFile, type RequestFile, withProgress } from '../request/open-request-file.ts';
import { tokenKey } from '../request/row-key.ts';
import { requireRequestAndResults } from '../request/wrong-file.ts';
import {
  actionFor,
  type Actions,
  type CodeCount,
  GROUPS,
  type Kept,
  type ResultRow,
  type RowGroup,
  splitResults,
  summarizeResults,
  updateWarnings,
} from '../result-codes.ts';
import { actionsOf, type ChosenStep } from './action-option.ts';
import { type KeptColumns, openKept } from './kept-columns.ts';
import { reconcile, type Rereadable } from './reconcile.ts';
import { requireNewToken } from './new-token.ts';
import type { PageSubject } from './report-page.ts';
import { type Report, type ReportRequest, totalRows } from './report-view.ts';
import { onlyCountedError, unmatchedRowsError } from './results-errors.ts';
import { repeatedResults, TokenRows } from './rows-of-request.ts';

/** The arguments and options of a report, with file names as typed. */
export interface ReportInput {
  readonly results: string;
  /** The request file of the results, to compare them with. */
  readonly request: string | undefined;
  /** The page to write. */
  readonly html: string | undefined;
  /** The directory that gets a file for each action. */
  readonly splitInto: string | undefined;
  /** The file with kept columns of the export. */
  readonly keep: string | undefined;
  readonly action: readonly ChosenStep[];
  readonly force: boolean;
  /** The tenant, cycle and file of the results, if the caller knows them. */
  readonly subject?: Omit<PageSubject, 'madeAt'> | undefined;
  /** Whether the caller counted the results and printed the warnings itself. */
  readonly isCounted?: boolean | undefined;
}

/** Counts a result file, compares it with its request if there is one, and writes the requested files. */
export async function makeReport(context: Context, input: ReportInput): Promise<Report> {
  const { results, request, html, splitInto, force } = input;
  if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
  const actions = actionsOf(context, input.action);
  const page = html === undefined ? undefined : resolvePath(context, html);
  const directory = splitInto === undefined ? undefined : resolvePath(context, splitInto);
  const kept = await openKept(context, input.keep);
  refuseInputs(context, input, { page, directory });
  if (page !== undefined) await requireFile(page, force);
  if (directory !== undefined) await requireSplitDirectory(context, directory, force);
  const next = ['au', 'report', '<results>', ...option('--request', request)];
  await requireRequestAndResults(context, { request, results, next });
  const source = withProgress(context, 'report', await fileSource(resolvePath(context, results)));
  const named = request === undefined ? undefined : { typed: request, name: input.subject?.submitted ?? request };
  const requested = named && (await openRequest(context, named));
  const compared = named && requested ? await compare(requested, source, named.name) : null;
  const cellsOf = kept && (await keptByToken(kept, requested?.source, source));
  const { codes, updates, ...counts } = await summarizeResults(source.open(), actions);
  const total = totalRows({ rows: counts.rows, request: compared });
  const splitting = { force, actions, kept: kept && cellsOf && { names: kept.names, cellsOf } };
  const report: Report = {
    file: results,
    ...counts,
    codes: codes.map((code) => reportCode(code, total, actions)),
    request: compared,
    split: directory === undefined ? null : await split(context, source, directory, splitting),
  };
  kept?.warnOfMissing(context, '; results name no merchant, and svc au refresh finds their rows by job');
  for (const warning of input.isCounted ? [] : updateWarnings(updates, results, context.clock.now()))
    context.notices.warn(warning);
  if (page !== undefined) await writePage(context, page, report, input);
  return report;
}

function reportCode({ code, class: kind, count, known, meaning, group }: CodeCount, total: number, actions: Actions) {
  const share = count / total;
  const action = actionFor(code, actions);
  return { code, class: kind, count, share, known, meaning, action, group: actions.get(code) ?? group };
}

/** Refuses to replace an input file, or another file of the report. */
function refuseInputs(
  { system }: Context,
  { results, request, keep, html }: ReportInput,
  { page, directory }: Readonly<Record<'page' | 'directory', string | undefined>>,
): void {
  const inputs = namedFiles({ '[results]': results, '--request': request, '--keep': keep });
  const written = directory === undefined ? [] : GROUPS.map((group) => splitFile(directory, group));
  for (const each of written) refuseReplacing(system, { name: '--split-into', typed: each }, inputs);
  for (const each of namedFiles({ '--html': html })) refuseReplacing(system, each, inputs);
  if (page === undefined || !written.some((each) => isSamePath(each, page, system.platform))) return;
  throw new SvcError('usage', '--html names a file of --split-into', { hint: 'Give the page another name.' });
}

type Requested = Pick<RequestFile, 'source' | 'withRepeats'>;

/** Opens a request file under the name that messages and the report show. */
async function openRequest(
  context: Context,
  { typed, name }: Readonly<Record<'typed' | 'name', string>>,
): Promise<Requested> {
  const path = typed === '-' ? typed : resolvePath(context, typed);
  const opening = name === typed ? openRequestFile(context, path) : openRequestFile(context, name, path);
  const { source, withRepeats } = await opening;
  return { source: endingWith(context, source), withRepeats: withRepeats && endingWith(context, withRepeats) };
}

async function compare({ source, withRepeats }: Requested, results: Rereadable, name: string): Promise<ReportRequest> {
  const { answered: _, ...comparison } = await reconcile(source, results, { withRepeats });
  return { file: name, ...comparison };
}

/**
 * Checks the comparison with the request. `mayHaveMore` allows a token more results than request rows.
 * @throws SvcError `checksum_mismatch` for a result row without a request row, `truncated` for a request too large to
 *   compare
 */
export function requireReconciled({ file, request }: Report, { mayHaveMore = false } = {}): void {
  if (request === null) return;
  if (request.matched_by === 'count') throw onlyCountedError(file, request);
  const repeated = mayHaveMore ? 0 : request.duplicates;
  if (request.not_requested + repeated > 0) throw unmatchedRowsError({ results: file, request: request.file }, request);
}

async function writePage(
  context: Context,
  target: string,
  report: Report,
  { subject, force }: ReportInput,
): Promise<void> {
  const { reportPage } = await import('./report-page.ts');
  const { clock, isRehearsal, system } = context;
  const page = reportPage(report, { madeAt: clock.now(), isRehearsal, ...subject });
  await writeWhole(target, force, (draft) => draft.write(page), { writer: system });
}

/**
 * Checks the output directory before anything is read.
 * @throws SvcError `usage` for a nonempty directory, or for anything but a file at the name of the directory's files
 */
async function requireSplitDirectory({ system }: Context, directory: string, force: boolean): Promise<void> {
  for (const group of GROUPS) removeAbandonedDrafts(splitFile(directory, group), system);
  try {
    const isEmpty = (await fs.readdir(directory)).length === 0;
    if (force) for (const group of GROUPS) await requireFile(splitFile(directory, group), true);
    if (isEmpty || force) return;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return;
    if (systemCodeOf(error) !== 'ENOTDIR') throw writeFailure(directory, error);
    throw new SvcError('usage', `${directory} is not a directory`, { hint: 'Give a directory.', cause: error });
  }
  throw new SvcError('usage', `${directory} is not empty`, {
    hint: 'Give another one, or allow files in it to be replaced.',
  });
}

interface SplitOptions {
  /** Whether to replace or remove files of an earlier split. */
  readonly force: boolean;
  readonly actions: Actions;
  readonly kept: Kept | undefined;
}

/** Returns the kept columns of each token; empty for one with several rows or results, which may be those of other rows. */
async function keptByToken(
  kept: KeptColumns,
  request: Rereadable | undefined,
  results: Rereadable,
): Promise<(token: string) => readonly string[]> {
  if (request === undefined) return (token) => kept.cellsOf(token);
  const rows = await TokenRows.of(request);
  const repeated = await repeatedResults(results);
  return (token) =>
    repeated.has(tokenKey(token)) ? kept.cellsAt(token, undefined) : kept.cellsOf(token, rows.countRows(token));
}

function splitFile(directory: string, group: RowGroup): string {
  return path.join(directory, `${group}.csv`);
}

/** Writes a file for each group with rows. No file appears before all rows are read. */
async function split(
  { globals: { excelSafe }, isRehearsal, system }: Context,
  results: Rereadable,
  directory: string,
  { force, ...rules }: SplitOptions,
) {
  makeDirectory(directory);
  const fileOf = (group: RowGroup): string => splitFile(directory, group);
  const open = new Map<RowGroup, { readonly file: Draft; rows: number }>();
  try {
    const check = (row: ResultRow): void => requireNewToken(row, isRehearsal);
    for await (const rows of splitResults(results.open(), { ...rules, excelSafe, check })) {
      for (const { group, header, line } of rows) {
        let into = open.get(group);
        if (into === undefined) {
          into = { file: await Draft.begin(fileOf(group), system), rows: 0 };
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
