// The members of a report, and its drawing on a terminal.

import { drawBar } from '../../cli/output/bars.ts';
import { cleanText } from '../../cli/output/text.ts';
import { hangingIndent, wrapWords } from '../../cli/output/wrap.ts';
import { fixedPercent, countText, formatNumber } from '../../cli/output/number.ts';
import { fieldPaths, type Palette, type Tone, type View } from '../../cli/output/view.ts';
import { type CodeCount, GROUPS, namedCounts, type ResultClass, type ResultSummary } from '../result-codes.ts';
import type { Reconciliation } from './reconcile.ts';

export interface Report extends Omit<ResultSummary, 'codes' | 'updates'> {
  readonly file: string;
  readonly codes: readonly ReportCode[];
  /** The comparison with the request; null without a request. */
  readonly request: ReportRequest | null;
  /** The files that a split wrote; null without a split. */
  readonly split: readonly { readonly file: string; readonly rows: number }[] | null;
}

/** A result code with its count and its action. */
export interface ReportCode extends CodeCount {
  /** The share of all requested rows, or of all result rows without a request, from 0 to 1. */
  readonly share: number;
}

export interface ReportRequest extends Omit<Reconciliation, 'answered'> {
  readonly file: string;
}

export const reportView: View<Report> = {
  name: 'report',
  fields: fieldPaths(`
    file rows updated warned errors unknown ${GROUPS.map((group) => `groups.${group}`).join(' ')} codes extra_columns
    request.file request.rows request.unchanged request.not_requested request.duplicates request.matched_by
    request.mismatches split
  `),
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    { path: 'updated', kind: 'number' },
    { path: 'warned', kind: 'number' },
    { path: 'errors', kind: 'number' },
    { path: 'unknown', kind: 'number' },
  ],
};

/** The classes in the order of a report, with their names. */
export const CLASS_NAMES: readonly (readonly [kind: ResultClass, name: string])[] = [
  ['updated', 'updated'],
  ['warned', 'warnings'],
  ['error', 'errors'],
  ['unknown', 'unknown'],
];

const TONES: Readonly<Record<ResultClass, Tone>> = { updated: 'good', warned: 'warn', error: 'bad', unknown: 'accent' };
const BAR_COLUMNS = 16;
const CODE_COLUMNS = 40;

interface ChartOptions {
  readonly palette: Palette;
  readonly unicode: boolean;
  readonly plain: boolean;
  /** The available width; infinite if lines must not be broken. */
  readonly columns: number;
}

/** Draws a report: a bar and an action for each result code, by class. */
export function drawReport(report: Report, options: ChartOptions): string {
  const { palette, columns } = options;
  const title = `${cleanText(report.file)}: ${rowsText(report)}`;
  const broken = (text: string): string[] => wrapWords(text, columns);
  const groups = CLASS_NAMES.flatMap(([kind, name]) => {
    const codes = report.codes.filter((code) => code.class === kind);
    return codes.length === 0 ? [] : classLines(name, codes, report, options);
  });
  const warning = dominanceWarning(report.codes, totalRows(report));
  const first = warning === undefined ? [] : [...broken(cleanText(warning)).map(palette.bad), ''];
  const titles = broken(title).map(palette.strong);
  const lines = [...first, ...titles, '', ...groups, ...actionLines(report, options)];
  if (report.request) lines.push(...requestLines(report, report.request).flatMap(broken), '');
  if (report.extra_columns.length > 0)
    lines.push(...broken(`unknown columns: ${report.extra_columns.map((name) => cleanText(name)).join(', ')}`), '');
  for (const { file, rows } of report.split ?? []) lines.push(`${cleanText(file)}: ${countText(rows, 'row')}`);
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Returns the number of result rows, and of request rows without a result, in words. */
export function rowsText({ rows, request }: Pick<Report, 'rows' | 'request'>): string {
  const unchanged = request?.unchanged ?? 0;
  const without = unchanged === 0 ? '' : `, without ${formatNumber(unchanged)} of the request that had no update`;
  return `${countText(rows, 'row')}${without}`;
}

function classLines(name: string, codes: readonly ReportCode[], report: Report, options: ChartOptions): string[] {
  const total = codes.reduce((sum, { count }) => sum + count, 0);
  const tone = options.palette[TONES[codes[0]?.class ?? 'unknown']];
  const title = tone(`${name}: ${formatNumber(total)} (${percentOf(total, report)})`);
  return [title, ...codeLines(codes, options, { all: report.codes, margin: '  ' }), ''];
}

function actionLines(report: Report, { plain }: ChartOptions): string[] {
  const counts = namedCounts(report.groups, report.request?.unchanged);
  const width = Math.max(...counts.map(({ name }) => name.length));
  const numberWidth = Math.max(...counts.map(({ count }) => formatNumber(count).length));
  const lines = counts.map(({ name, count }) => {
    const number = formatNumber(count);
    const percent = percentOf(count, report);
    if (plain) return `${name}: ${number} (${percent})`;
    return `  ${name.padEnd(width)}  ${number.padStart(numberWidth)}  ${percent.padStart(6)}`;
  });
  return counts.length === 0 ? [] : ['what to do', ...lines, ''];
}

/** With fewer rows, a dominant code means nothing. */
const MIN_ROWS = 20;

/**
 * Returns a warning if one error code has more than half of the rows: then the cause is usually the request, not its cards.
 * `tenant` is the tenant that the rows were sent to, if known.
 */
export function dominanceWarning(
  codes: readonly Pick<CodeCount, 'code' | 'class' | 'count'>[],
  rows: number,
  tenant?: string,
): string | undefined {
  const dominant = codes.find((code) => code.class === 'error' && code.count * 2 > rows);
  if (dominant === undefined || rows < MIN_ROWS) return undefined;
  const count = `${formatNumber(dominant.count)} of ${countText(rows, 'row')} (${fixedPercent(dominant.count / rows)})`;
  const where = tenant === undefined ? 'a tenant that is not recorded here' : `tenant ${tenant}`;
  return `${count} ended in ${shownCode(dominant.code)} at ${where}: is the profile wrong, or the export?`;
}

/** Returns the number of rows that shares refer to: all result rows, and the request rows without a result. */
export function totalRows({ rows, request }: Pick<Report, 'rows' | 'request'>): number {
  return rows + (request?.unchanged ?? 0);
}

export function percentOf(count: number, report: Pick<Report, 'rows' | 'request'>): string {
  return fixedPercent(count === 0 ? 0 : count / totalRows(report));
}

type ChartCode = Pick<CodeCount, 'code' | 'class' | 'count' | 'action'> & { readonly share?: number };

/** Returns one line per result code: its count, its share if given, a bar, and its action. */
export function codeLines(
  codes: readonly ChartCode[],
  { palette, unicode, plain, columns }: ChartOptions,
  { all = codes, margin = '' }: { readonly all?: readonly ChartCode[]; readonly margin?: string } = {},
): string[] {
  const maxCount = Math.max(...all.map(({ count }) => count));
  const codeWidth = Math.max(...all.map(({ code }) => shownCode(code).length));
  const countWidth = formatNumber(maxCount).length;
  return codes.map(({ code, count, share, action, class: kind }) => {
    if (plain)
      return `${shownCode(code)}: ${formatNumber(count)}${share === undefined ? '' : ` (${fixedPercent(share)})`}: ${action}`;
    const percent = share === undefined ? '' : `${fixedPercent(share).padStart(6)}  `;
    const numbers = `${margin}${shownCode(code).padEnd(codeWidth)}  ${formatNumber(count).padStart(countWidth)}  ${percent}`;
    // A narrow terminal leaves out the bar, because the numbers contain the same information.
    const room = Math.max(0, Math.min(BAR_COLUMNS, columns - numbers.length));
    const bar = drawBar(count, maxCount, room, { unicode });
    const gap = room === 0 ? '' : `${' '.repeat(room - bar.length)}  `;
    const width = numbers.length + bar.length + gap.length;
    return hangingIndent(`${numbers}${palette[TONES[kind]](bar)}${gap}`, width, action, columns);
  });
}

/** Returns a code for display: cleaned, shortened if it is too long, and with a name if it is empty. */
export function shownCode(code: string): string {
  if (code === '') return '(empty)';
  const clean = cleanText(code);
  return clean.length > CODE_COLUMNS ? `${clean.slice(0, CODE_COLUMNS - 1)}…` : clean;
}

/** Returns the sum that an auditor checks: requested = updated + warnings + errors + unchanged. */
export function sumText(report: Report, request: ReportRequest): string {
  const { updated, warned, errors, unknown } = report;
  const parts = [
    `${formatNumber(updated)} updated`,
    countText(warned, 'warning'),
    countText(errors, 'error'),
    ...(unknown > 0 ? [`${formatNumber(unknown)} unknown`] : []),
    `${formatNumber(request.unchanged)} unchanged`,
  ];
  const odd = request.not_requested + request.duplicates;
  return `${formatNumber(request.rows)} requested = ${parts.join(' + ')}${odd > 0 ? ` - ${formatNumber(odd)} that match no request row` : ''}`;
}

function requestLines(report: Report, request: ReportRequest): string[] {
  const lines = [sumText(report, request)];
  if (request.not_requested > 0)
    lines.push(`${countText(request.not_requested, 'row')} with a token that was not requested`);
  if (request.duplicates > 0)
    lines.push(`${countText(request.duplicates, 'row')} with a token that already had its result`);
  return lines;
}
