import { escapeHtml, htmlPage, timeTag } from '../output/page.ts';
import { countText, formatNumber, fixedPercent } from '../output/time.ts';
import { ACTION_GROUP_NAMES, CLASS_NAMES, type Report, type ReportCode, shownCode, sumOf } from './report-view.ts';

/**
 * A report as one self-contained page: no script, nothing loaded from anywhere. `madeAt` in milliseconds since the
 * epoch.
 */
export function reportPage(report: Report, madeAt: number): string {
  const { file, rows } = report;
  const body = `<p>${escapeHtml(file)}: ${countText(rows, 'row')}</p>
<p class="soft">Made ${timeTag(madeAt)}</p>
${requestSection(report)}${classSection(report)}${stepSection(report)}${codeSection(report)}${columnSection(report)}`;
  return htmlPage({ title: `Account Updater report: ${file}`, heading: 'Account Updater report' }, body);
}

function requestSection(report: Report): string {
  const { request } = report;
  if (request === null) return '';
  const odd = request.not_requested + request.duplicates;
  const counts = `${formatNumber(request.not_requested)} with a token that was not requested, ${formatNumber(request.duplicates)} with a token that already had its result`;
  const verdict =
    odd > 0
      ? `<p class="odd"><strong>Rows that match no request row:</strong> ${counts}.</p>`
      : request.matched_by === 'count'
        ? '<p class="odd">The rows were counted only: there are too many tokens to compare.</p>'
        : '<p class="fine">Every row of the results matches a row of the request.</p>';
  return `<section><h2>Against the request</h2>
<p>${escapeHtml(request.file)}: ${escapeHtml(sumOf(report, request))}</p>
${verdict}
</section>
`;
}

function codeSection({ codes, rows }: Report): string {
  if (codes.length === 0) return '<section><h2>By result code</h2><p>The file has no rows.</p></section>\n';
  const bars = codes.map(({ code, count, class: kind }) => ({ name: shownCode(code), count, kind }));
  return `<section class="long"><h2>By result code</h2>
${barChart({ id: 'codes', title: 'Rows by result code' }, bars, rows)}
<table class="stack" role="table"><caption>Result codes, what they mean, and what to do</caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Code</th><th scope="col" role="columnheader" class="number">Rows</th><th scope="col" role="columnheader" class="number">Share</th><th scope="col" role="columnheader">Meaning</th><th scope="col" role="columnheader">What to do</th></tr></thead>
<tbody role="rowgroup">${codes.map((code) => codeRow(code)).join('\n')}</tbody></table>
</section>
`;
}

// The roles say what the tags do: on a narrow screen the rows are laid out as blocks, and some browsers then forget it.
function codeRow({ code, count, share, meaning, action }: ReportCode): string {
  return `<tr role="row"><th scope="row" role="rowheader">${escapeHtml(shownCode(code))}</th><td role="cell" class="number" data-label="Rows">${formatNumber(count)}</td><td role="cell" class="number" data-label="Share">${fixedPercent(share)}</td><td role="cell" data-label="Meaning">${escapeHtml(meaning)}</td><td role="cell" data-label="What to do">${escapeHtml(action)}</td></tr>`;
}

function columnSection({ extra_columns: names }: Report): string {
  if (names.length === 0) return '';
  const items = names.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ');
  return `<section><h2>Unknown columns</h2><p>${items}</p></section>\n`;
}

/** How many rows there are of each class. */
function classSection(report: Report): string {
  const whole = report.rows + (report.request?.unchanged ?? 0);
  const counts = CLASS_NAMES.map(([kind, name]) => ({
    kind: kind as string,
    name,
    count: report.codes.reduce((sum, code) => (code.class === kind ? sum + code.count : sum), 0),
  })).filter(({ kind, count }) => kind !== 'unknown' || count > 0);
  if (report.request) counts.push({ kind: 'unchanged', name: 'unchanged', count: report.request.unchanged });
  return countSection({ id: 'classes', title: 'By class', column: 'Class', caption: 'Rows by class' }, counts, whole);
}

/** What the codes ask for, with what the operator chose for them. */
function stepSection({ codes, rows }: Report): string {
  const counts = ACTION_GROUP_NAMES.map(([group, name]) => ({
    kind: group as string,
    name,
    count: codes.reduce((sum, code) => (code.group === group ? sum + code.count : sum), 0),
  })).filter(({ count }) => count > 0);
  if (counts.length === 0) return '';
  return countSection(
    { id: 'steps', title: 'What to do', column: 'Step', caption: 'Rows by what to do' },
    counts,
    rows,
  );
}

/** A chart, and the same as a table. */
function countSection(
  { id, title, column, caption }: Readonly<Record<'id' | 'title' | 'column' | 'caption', string>>,
  counts: readonly Bar[],
  whole: number,
): string {
  const rows = counts.map(
    ({ name, count }) =>
      `<tr><th scope="row">${name}</th><td class="number">${formatNumber(count)}</td><td class="number">${shareOf(count, whole)}</td></tr>`,
  );
  return `<section><h2>${title}</h2>
${barChart({ id, title: caption }, counts, whole)}
<table><caption>${caption}</caption>
<thead><tr><th scope="col">${column}</th><th scope="col" class="number">Rows</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
</section>
`;
}

/** The text at the end of a bar: "1,234 (12.3%)". */
function wordsOf(count: number, whole: number): string {
  return `${formatNumber(count)} (${shareOf(count, whole)})`;
}

function shareOf(count: number, whole: number): string {
  return fixedPercent(whole === 0 ? 0 : count / whole);
}

/** One bar of a chart; `kind` is the class of the style sheet that colors it. */
interface Bar {
  readonly name: string;
  readonly count: number;
  readonly kind: string;
}

const ROW = 42;
const BAR_TOP = 20;
const BAR_HEIGHT = 12;

/**
 * Horizontal bars as SVG, each its share of `whole`. Lengths are percentages and there is no viewBox, so that text,
 * which stands above its bar, keeps its size on a narrow screen.
 */
function barChart(
  { id, title }: Readonly<Record<'id' | 'title', string>>,
  bars: readonly Bar[],
  whole: number,
): string {
  const description = bars.map(({ name, count }) => `${name}: ${wordsOf(count, whole)}`).join('; ');
  const rows = bars.map((bar, at) => chartBar(bar, at * ROW, whole)).join('');
  return `<svg class="chart" role="img" aria-labelledby="${id}-title ${id}-desc" width="100%" height="${bars.length * ROW}">
<title id="${id}-title">${escapeHtml(title)}</title>
<desc id="${id}-desc">${escapeHtml(description)}</desc>
${rows}</svg>`;
}

function chartBar({ name, count, kind }: Bar, top: number, whole: number): string {
  const width = count === 0 ? 0 : Math.max(0.5, (count / whole) * 100);
  const text = top + 14;
  const bar = top + BAR_TOP;
  return `<text x="0" y="${text}">${escapeHtml(name)}</text><text class="end" x="100%" y="${text}">${escapeHtml(wordsOf(count, whole))}</text>
<rect class="track" x="0" y="${bar}" width="100%" height="${BAR_HEIGHT}" rx="2"/><rect class="${kind}" x="0" y="${bar}" width="${width.toFixed(2)}%" height="${BAR_HEIGHT}" rx="2"/>
`;
}
