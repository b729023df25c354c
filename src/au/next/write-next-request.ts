// `svc au next`: writes the next request and the excluded rows.

import { SvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { isSamePath } from '../../base/files/names.ts';
import { compareShare } from '../../base/share.ts';
import type { Context } from '../../cli/app/command.ts';
import { namedFiles, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { csvRow, csvRowFormat, csvRows } from '../../cli/output/csv.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { Exclusions } from '../request/exclusions.ts';
import { endingWith, openRequestFile, withProgress } from '../request/open-request-file.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { cellsOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { repeatsToken } from '../request/rows-file.ts';
import type { TokenTable } from '../request/token-table.ts';
import { requireRequestAndResults } from '../request/wrong-file.ts';
import {
  type Actions,
  explainResultCode,
  GROUPS,
  namedCounts,
  noRows,
  noteUpdate,
  noUpdates,
  updateWarnings,
} from '../result-codes.ts';
import type { Threshold } from '../results/fail-on.ts';
import { keepFileOf, KEPT_COLUMNS, type KeptColumns, openKept } from '../results/kept-columns.ts';
import { reconcile, type Rereadable } from '../results/reconcile.ts';
import { shownCode } from '../results/report-view.ts';
import { notProven, tooManyToFix, unknownCodesText } from './next-errors.ts';
import { unmatchedRowsError } from '../results/results-errors.ts';
import { TokenRows } from '../results/rows-of-request.ts';
import { indexResults, nextRequest, type NextRow, type ResultsByToken, resultsInOrder } from './next-request.ts';

/** The arguments and options of `au next`, with file names as typed. */
export interface NextFiles {
  readonly request: string;
  readonly results: string;
  /** The output file; undefined to add closed accounts to the list of exclusions alone. */
  readonly out: string | undefined;
  readonly excluded: string | undefined;
  readonly exclusions: string | undefined;
  /** The tokens that were added to the list of exclusions before, and are not added again. */
  readonly listed?: TokenTable | undefined;
  /** The file with kept columns of the export. */
  readonly keep: string | undefined;
  /** The operator's name for the cycle of the results. */
  readonly cycle: string | undefined;
  readonly actions: Actions;
  /** The largest share of rows that need fixing, each of which is billed again; undefined for any. */
  readonly mostToFix?: Threshold | undefined;
  readonly force: boolean;
  /** Whether a token may have more results than rows, as in jobs of earlier builds. */
  readonly mayHaveMore?: boolean | undefined;
  /** Whether the caller counted the results and printed the warnings itself. */
  readonly isCounted?: boolean | undefined;
}

/**
 * The next request, with counts of the last request's rows by action. The counts match `au report`, unless a token has several
 * rows and it is unknown which got a new token: then all of them get it.
 */
type NextRequest = Awaited<ReturnType<typeof writeNextRequest>>;

export const nextRequestView: View<NextRequest> = {
  name: 'next request',
  fields: [
    'file',
    'rows',
    ...GROUPS.map((group) => `groups.${group}`),
    ...fieldPaths('unchanged excluded_before unknown excluded_by_code excluded_by_code.* excluded_file keep_file'),
  ],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    ...GROUPS.map((group) => ({ path: `groups.${group}`, kind: 'number' }) as const),
    { path: 'unchanged', kind: 'number' },
  ],
};

/**
 * Writes the next request and the excluded rows.
 * @throws SvcError `checksum_mismatch` for results of another request, `threshold` for too many rows that need fixing
 */
export async function writeNextRequest(context: Context, input: NextFiles) {
  await requireTargets(context, input);
  if (input.exclusions === undefined) return writeFiles(context, input, undefined);
  const { system, clock, signal } = context;
  const host = { pid: system.pid, isAlive: (pid: number) => system.isAlive(pid), clock, signal };
  return Exclusions.hold(resolvePath(context, input.exclusions), host, (list) => writeFiles(context, input, list));
}

async function writeFiles(context: Context, input: NextFiles, exclusions: Exclusions | undefined) {
  const { force, mostToFix, results } = input;
  const matched = await matchFiles(context, input);
  const drafts: Draft[] = [];
  try {
    const { updates, kept, keepName, ...counts } = await writeDrafts(context, input, matched, { drafts, exclusions });
    const { rows, groups, unknown } = counts;
    if (mostToFix && compareShare(groups.fix, rows, mostToFix.share) > 0)
      throw tooManyToFix({ rows, fix: groups.fix }, results);
    const list = await exclusions?.draft();
    if (list) drafts.unshift(list);
    // If the disk is full, no file gets its final name.
    for (const file of drafts) await file.seal();
    // The operator may edit the list at any time, so the new list follows this check at once.
    await exclusions?.requireUnchanged();
    for (const file of drafts) await file.finish(force || file === list);
    kept?.warnOfMissing(context, `; use the file that was kept for ${input.request}`);
    for (const warning of input.isCounted ? [] : updateWarnings(updates, input.results, context.clock.now()))
      context.notices.warn(warning);
    if (!input.isCounted && unknown > 0) context.notices.warn(unknownCodesText(unknown, input.results));
    if (input.out !== undefined) context.notices.note(countsOf(counts));
    return { file: input.out ?? null, ...counts, excluded_file: input.excluded ?? null, keep_file: keepName ?? null };
  } finally {
    for (const draft of drafts) await draft.discard();
  }
}

/** The rows of a request, and the results that belong to them. */
interface MatchedFiles {
  readonly source: Rereadable;
  readonly answers: ResultsByToken;
}

/**
 * Opens the request and its results. Results in the order of the request, as the service returns them, are read beside it; others
 * are kept in memory.
 * @throws SvcError `checksum_mismatch` for results of another request
 */
async function matchFiles(context: Context, input: NextFiles): Promise<MatchedFiles> {
  const { request, results: name, mayHaveMore } = input;
  await requireRequestAndResults(context, { request, results: name, next: ['au', 'next', request, '<results>'] });
  requireProven(name);
  const { submitted, check, ...opened } = await openRequestFile(context, resolvePath(context, request));
  const source = endingWith(context, opened.source);
  const withRepeats = opened.withRepeats && endingWith(context, opened.withRepeats);
  const results = withProgress(context, 'next', await fileSource(resolvePath(context, name)));
  const comparison = await reconcile(source, results, { withRepeats });
  const repeated = mayHaveMore ? 0 : comparison.duplicates;
  if (comparison.not_requested + repeated > 0)
    throw unmatchedRowsError(input, comparison, ['au', 'report', name, '--request', request]);
  // A token with several rows takes its result from any position, so that no row keeps an old token.
  const hasSeveralRows = submitted.duplicates.hasSeveralMerchants && (await repeatsToken(source, check.rows));
  const isInOrder = comparison.matched_by === 'order' && !hasSeveralRows;
  const answers = isInOrder ? await resultsInOrder(results.open()) : await indexResults(results.open(), mayHaveMore);
  return { source, answers };
}

async function writeDrafts(
  context: Context,
  { out: outName, excluded: excludedName, listed, keep, cycle, actions }: NextFiles,
  { source, answers }: MatchedFiles,
  { drafts, exclusions }: { readonly drafts: Draft[]; readonly exclusions: Exclusions | undefined },
) {
  const kept = await openKept(context, keep);
  const keptNames = kept?.names ?? [];
  const keepName = kept && outName !== undefined ? keepFileOf(outName) : undefined;
  const begin = async (name: string | undefined, header: string): Promise<Draft | undefined> => {
    if (name === undefined) return undefined;
    const draft = await Draft.begin(resolvePath(context, name), context.system);
    drafts.push(draft);
    await draft.write(header);
    return draft;
  };
  const out = await begin(outName, `${REQUEST_HEADER}\n`);
  const excludedColumns = ['row', ...REQUEST_COLUMNS, 'result_code', 'reason', ...keptNames];
  const excludedRow = csvRowFormat(excludedColumns, context.globals.excelSafe);
  const excluded = await begin(excludedName, excludedRow(excludedColumns));
  const keepFile = await begin(keepName, csvRow([...KEPT_COLUMNS, ...keptNames]));
  const rules = { exclusions, isRehearsal: context.isRehearsal };
  const written = await writeRows(nextRequest(source.open(), answers, actions, rules), {
    out,
    excluded,
    excludedRow,
    keepFile,
    keptCells: kept && (await keptByRow(kept, source)),
    exclude: (token, code) => {
      if (!listed?.get(tokenKey(token))) exclusions?.add({ token, code, cycle, at: context.clock.now() });
    },
    actions,
    signal: context.signal,
  });
  return { ...written, kept, keepName };
}

interface Targets {
  readonly out: Draft | undefined;
  readonly excluded: Draft | undefined;
  /** Formats a row of the excluded rows. */
  readonly excludedRow: (cells: readonly string[]) => string;
  /** Receives the kept columns of the written rows. */
  readonly keepFile: Draft | undefined;
  /** Returns the kept cells of each row in order. */
  readonly keptCells: ((token: string) => readonly string[]) | undefined;
  /** Adds a token to the list of exclusions. */
  readonly exclude: (token: string, code: string) => void;
  readonly actions: Actions;
  readonly signal: AbortSignal;
}

async function writeRows(
  batches: AsyncIterable<readonly NextRow[]>,
  { out, excluded, excludedRow, keepFile, keptCells, exclude, actions, signal }: Targets,
) {
  const counts = { rows: 0, groups: noRows(), unchanged: 0, excluded_before: 0, unknown: 0 };
  const byCode = new Map<string, number>();
  const updates = noUpdates();
  let number = 0;
  for await (const batch of batches) {
    signal.throwIfAborted();
    const lines: string[] = [];
    const keptRows: string[][] = [];
    for (const { group, line, request, code = '', excludedOn, result } of batch) {
      number += 1;
      if (result) noteUpdate(updates, request.token, result);
      if (result && isUnknown(code, actions)) counts.unknown += 1;
      if (group === 'unchanged') counts.unchanged += 1;
      else if (group === 'excluded before') counts.excluded_before += 1;
      else counts.groups[group] += 1;
      const cells = keptCells?.(request.token) ?? [];
      if (group === 'exclude' || group === 'excluded before') {
        const reason = excludedOn === undefined ? reasonFor(code, actions) : reasonBefore(excludedOn);
        await excluded?.write(excludedRow([String(number), ...cellsOf(request), code, reason, ...cells]));
      } else {
        lines.push(line, '\n');
        counts.rows += 1;
        if (keptCells) keptRows.push([String(counts.rows), tokenOf(line), ...cells]);
      }
      if (group !== 'exclude') continue;
      byCode.set(code, (byCode.get(code) ?? 0) + 1);
      exclude(request.token, code);
    }
    await out?.write(lines.join(''));
    if (keptRows.length > 0) await keepFile?.write(csvRows(keptRows));
  }
  return { ...counts, excluded_by_code: Object.fromEntries(byCode), updates };
}

/** Tells whether nothing is known of a result code, and the operator did not choose what to do. */
function isUnknown(code: string, actions: Actions): boolean {
  return explainResultCode(code).class === 'unknown' && !actions.has(code);
}

type Counts = Omit<Awaited<ReturnType<typeof writeRows>>, 'updates'>;

/** Returns the counts as a sentence, with the codes of the excluded rows. */
function countsOf({ rows, groups, unchanged, excluded_before: before, excluded_by_code: byCode }: Counts): string {
  const codes = Object.entries(byCode).map(([code, count]) => `${shownCode(code)} ${formatNumber(count)}`);
  const counts = namedCounts(groups, unchanged).map(
    ({ group, name, count }) => `${name} ${formatNumber(count)}${group === 'exclude' ? ` (${codes.join(', ')})` : ''}`,
  );
  if (before > 0) counts.push(`excluded before ${formatNumber(before)}`);
  return [`${countText(rows, 'row')} in the next request`, counts.join(', ')].filter((part) => part !== '').join(': ');
}

/** Checks the output files before any input is read. @throws SvcError `usage` */
async function requireTargets(
  context: Context,
  { request, results, out, excluded, exclusions, keep, force }: NextFiles,
): Promise<void> {
  const inputs = namedFiles({ '[request]': request, '[results]': results, '--keep': keep });
  const written = namedFiles({ '--out': out, '--excluded': excluded, '--keep': keep && out && keepFileOf(out) });
  for (const each of written) refuseReplacing(context.system, each, inputs);
  const named = [...written, ...namedFiles({ '--exclusions': exclusions })].flatMap(({ name, typed }) =>
    typed === '-' ? [] : [{ name, path: resolvePath(context, typed) }],
  );
  for (const [index, { name, path }] of named.entries()) {
    const other = named.slice(index + 1).find((each) => isSamePath(path, each.path, context.system.platform));
    if (other)
      throw new SvcError('usage', `${name} and ${other.name} name the same file`, { hint: 'Give each its own name.' });
    await requireFile(path, force || name === '--exclusions');
  }
}

/** Refuses unproven results until the operator accepts them: they would become billable rows. */
function requireProven(results: string): void {
  if (results.endsWith('.unproven')) throw notProven(results);
}

async function keptByRow(kept: KeptColumns, request: Rereadable): Promise<(token: string) => readonly string[]> {
  const rows = await TokenRows.of(request);
  const placeOf = rows.occurrenceCounter();
  return (token) => kept.cellsAt(token, placeOf(token), rows.countRows(token));
}

function tokenOf(line: string): string {
  return cellsOf({ line })[0] ?? '';
}

function reasonBefore(line: number): string {
  return `excluded before: line ${line} of the list of exclusions`;
}

function reasonFor(code: string, actions: Actions): string {
  const { meaning } = explainResultCode(code);
  return actions.has(code) ? `${meaning} (excluded by your choice)` : meaning;
}
