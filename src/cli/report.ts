import type { Actions } from '../csv/actions.ts';
import { actionFor, pileOf, stepFor } from '../csv/actions.ts';
import { reconcile, type Reconciliation } from '../csv/reconcile.ts';
import { type CodeCount, type ResultSummary, summarizeResults } from '../csv/summarize-results.ts';
import { SvcError } from '../errors.ts';
import { fileSource } from '../transfer/source.ts';
import { WholeFile } from '../transfer/whole-file.ts';
import type { Report, ReportCode } from '../views/report.ts';
import type { Context } from './context.ts';
import { resolvePath } from './files.ts';
import { openRequestFile } from './request-file.ts';
import { requireFile } from './require-file.ts';
import { checkSplitTarget, splitInto } from './split-into.ts';

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
  const { reportPage } = await import('../report/page.ts');
  const file = await WholeFile.begin(target);
  try {
    await file.write(reportPage(report, now));
    await file.finish(force);
  } finally {
    await file.discard();
  }
}

/** @throws SvcError `altered` when a row of the results answers no row of the request */
export function checkReconciled({ file, request }: Report): void {
  if (request === null) return;
  const { not_requested, answered_again, matched_by, oddities, rows } = request;
  const facts = { not_requested, answered_again, oddities };
  if (matched_by === 'count') {
    throw new SvcError(
      'incomplete',
      `the rows of ${file} were counted only: ${request.file} holds too many tokens`,
      {
        hint: 'Results in the order of the request can be compared at any size: take those that the service or au download gave.',
        facts: { rows_requested: rows },
      },
    );
  }
  if (not_requested + answered_again === 0) return;
  const first = oddities.slice(0, 3).map(({ row }) => row);
  throw new SvcError(
    'altered',
    `${not_requested + answered_again} rows of ${file} answer no row of ${request.file}: ${first.join(', ')}${oddities.length > 3 ? ' …' : ''}`,
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
    pile: pileOf(code, true, actions),
  };
}

function reportRequest(file: string, found: Reconciliation): NonNullable<Report['request']> {
  const { requested, unchanged, notRequested, answeredAgain, matchedBy, oddities } = found;
  return {
    file,
    rows: requested,
    unchanged,
    not_requested: notRequested,
    answered_again: answeredAgain,
    matched_by: matchedBy,
    oddities,
  };
}
