// Draws a report as an HTML page.

import path from 'node:path';
import { escapeHtml, htmlPage, pageSection, timeTag } from '../../cli/output/page.ts';
import { type PageColumn, pageTable } from '../../cli/output/page-table.ts';
import { formatNumber } from '../../cli/output/number.ts';
import { REHEARSAL_WARNING } from '../../schema/account-updater-files.ts';
import { namedCounts } from '../result-codes.ts';
import {
  CLASS_NAMES,
  dominanceWarning,
  percentOf,
  type Report,
  type ReportCode,
  rowsText,
  shownCode,
  sumText,
  totalRows,
} from './report-view.ts';
import type { Trend } from './trend.ts';

export interface PageSubject {
  /** The time of the report, in milliseconds since the epoch. */
  readonly madeAt: number;
  readonly tenant?: string | undefined;
  readonly cycle?: string | undefined;
  /** When the cycle began, in milliseconds since the epoch. */
  readonly begunAt?: number | undefined;
  /** The name of the file that was submitted, if known. */
  readonly submitted?: string | undefined;
  /** Whether the results are invented by a rehearsal. */
  readonly isRehearsal?: boolean | undefined;
  /** A comparison of the results with the last cycle, if known. */
  readonly trend?: Trend | undefined;
}

/** Returns a report as a self-contained HTML page, without scripts or external resources. */
export function reportPage(report: Report, subject: PageSubject): string {
  const { madeAt, begunAt, tenant, cycle, trend, submitted } = subject;
  const tenantLine = tenant === undefined ? '' : `Tenant ${tenant}`;
  // The page is passed on to others, so it shows no directory of this machine.
  const file = path.basename(report.file);
  const mark = subject.isRehearsal ? `${REHEARSAL_WARNING}. ` : '';
  const title = `${mark}Account Updater report: ${cycle === undefined ? file : `cycle ${cycle}`}`;
  const heading = cycle === undefined ? `${mark}Account Updater report` : title;
  const begun = begunAt === undefined ? '' : `Submitted ${timeTag(begunAt)}. `;
  const warning = dominanceWarning(report.codes, totalRows(report), tenant);
  const first = [warning, trend?.jump]
    .flatMap((odd) => (odd === undefined ? [] : `<p class="odd"><strong>${escapeHtml(odd)}</strong></p>\n`))
    .join('');
  const compared = trend === undefined ? '' : `<p>${escapeHtml(trend.text)}</p>\n`;
  const body = `${first}<p>${escapeHtml(file)}: ${rowsText(report)}</p>
${compared}${tenantLine === '' ? '' : `<p>${escapeHtml(tenantLine)}</p>\n`}<p class="soft">${begun}Made ${timeTag(madeAt)}</p>
${requestSection(report, submitted)}${classSection(report)}${stepSection(report)}${codeSection(report)}${columnSection(report)}`;
  return htmlPage({ title, heading }, body);
}

function requestSection(report: Report, submitted: string | undefined): string {
  const { request } = report;
  if (request === null) return '';
  return `<section><h2>Against the request</h2>
<p>${escapeHtml(submitted ?? path.basename(request.file))}: ${escapeHtml(sumText(report, request))}</p>
${verdictOf(request)}
</section>
`;
}

function verdictOf(request: NonNullable<Report['request']>): string {
  const { not_requested: notRequested, duplicates } = request;
  if (notRequested + duplicates > 0) {
    const counts = `${formatNumber(notRequested)} with a token that was not requested, ${formatNumber(duplicates)} with a token that already had its result`;
    return `<p class="odd"><strong>Rows that match no request row:</strong> ${counts}.</p>`;
  }
  if (request.matched_by === 'count')
    return '<p class="odd">The rows were counted only: there are too many tokens to compare.</p>';
  return '<p class="fine">Every row of the results matches a row of the request.</p>';
}

function codeSection(report: Report): string {
  if (report.codes.length === 0) return '<section><h2>By result code</h2><p>The file has no rows.</p></section>\n';
  const heading = 'By result code';
  const rows = report.codes.map((code) => codeCells(code, report));
  return pageSection(heading, pageTable(heading, CODE_COLUMNS, rows));
}

const CODE_COLUMNS: readonly PageColumn[] = [
  { title: 'Code' },
  { title: 'Rows', isNumber: true },
  { title: 'Share', isNumber: true },
  { title: 'Meaning' },
  { title: 'What to do' },
];

function codeCells({ code, count, meaning, action }: ReportCode, report: Report): string[] {
  return [shownCode(code), formatNumber(count), percentOf(count, report), meaning, action];
}

function columnSection({ extra_columns: names }: Report): string {
  if (names.length === 0) return '';
  const items = names.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ');
  return `<section><h2>Unknown columns</h2><p>${items}</p></section>\n`;
}

function classSection(report: Report): string {
  const { updated, warned, errors: error, unknown, request } = report;
  const counts = { updated, warned, error, unknown };
  const bars: Bar[] = CLASS_NAMES.map(([kind, name]) => ({ kind, name, count: counts[kind] })).filter(
    ({ kind, count }) => kind !== 'unknown' || count > 0,
  );
  if (request) bars.push({ kind: 'unchanged', name: 'unchanged', count: request.unchanged });
  return chartSection({ id: 'classes', title: 'By class', caption: 'Rows by class' }, bars, report);
}

/** Draws the number of rows for each action, including the operator's choices. */
function stepSection(report: Report): string {
  const counts = namedCounts(report.groups, report.request?.unchanged);
  const bars = counts.map(({ group, name, count }) => ({ name, count, kind: group }));
  if (bars.length === 0) return '';
  return chartSection({ id: 'steps', title: 'What to do', caption: 'Rows by what to do' }, bars, report);
}

/** Returns the text at the end of a bar: "1,234 (12.3%)". */
function wordsOf({ count }: Bar, report: Report): string {
  return `${formatNumber(count)} (${percentOf(count, report)})`;
}

/** A bar of a chart. `kind` is the CSS class that colors it. */
interface Bar {
  readonly name: string;
  readonly count: number;
  readonly kind: string;
}

const ROW = 42;
const BAR_TOP = 20;
const BAR_HEIGHT = 12;

/**
 * Draws horizontal bars as SVG, each with its share of all rows and its numbers as text. Lengths are percentages and
 * there is no viewBox, so that text keeps its size on a narrow screen.
 */
function chartSection(
  { id, title, caption }: Readonly<Record<'id' | 'title' | 'caption', string>>,
  bars: readonly Bar[],
  report: Report,
): string {
  const description = bars.map((bar) => `${bar.name}: ${wordsOf(bar, report)}`).join('; ');
  return `<section><h2>${title}</h2>
<svg class="chart" role="img" aria-labelledby="${id}-title ${id}-desc" width="100%" height="${bars.length * ROW}">
<title id="${id}-title">${caption}</title>
<desc id="${id}-desc">${escapeHtml(description)}</desc>
${bars.map((bar, at) => chartBar(bar, at * ROW, report)).join('')}</svg>
</section>
`;
}

function chartBar(shown: Bar, top: number, report: Report): string {
  const { name, count, kind } = shown;
  const width = count === 0 ? 0 : Math.max(0.5, (count / totalRows(report)) * 100);
  const text = top + 14;
  const bar = top + BAR_TOP;
  return `<text x="0" y="${text}">${escapeHtml(name)}</text><text class="end" x="100%" y="${text}">${escapeHtml(wordsOf(shown, report))}</text>
<rect class="track" x="0" y="${bar}" width="100%" height="${BAR_HEIGHT}" rx="2"/><rect class="${kind}" x="0" y="${bar}" width="${width.toFixed(2)}%" height="${BAR_HEIGHT}" rx="2"/>
`;
}
