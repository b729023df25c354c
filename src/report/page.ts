import { formatNumber, formatPercent } from '../render/quantity.ts';
import { type Report, type ReportCode, shownCode, sumOf } from '../views/report.ts';
import { barChart } from './chart.ts';
import { barOf, classSection, stepSection } from './count-sections.ts';
import { escapeHtml } from './escape.ts';
import { STYLE } from './style.ts';

/**
 * A report as one self-contained page: no script, nothing loaded from anywhere. `madeAt` in milliseconds since the
 * epoch.
 */
export function reportPage(report: Report, madeAt: number): string {
  const { file, rows } = report;
  const made = new Date(madeAt).toISOString();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Account Updater report: ${escapeHtml(file)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Account Updater report</h1>
<p>${escapeHtml(file)}: ${formatNumber(rows)} ${rows === 1 ? 'row' : 'rows'}</p>
<p class="soft">Made <time datetime="${made}">${made.slice(0, 16).replace('T', ' ')} UTC</time></p>
${requestSection(report)}${classSection(report)}${stepSection(report)}${codeSection(report)}${columnSection(report)}</main>
</body>
</html>
`;
}

function requestSection(report: Report): string {
  const { request } = report;
  if (request === null) return '';
  const odd = request.not_requested + request.answered_again;
  const counts = `${formatNumber(request.not_requested)} with a token that was not requested, ${formatNumber(request.answered_again)} with a token that was answered before`;
  const verdict =
    odd > 0
      ? `<p class="odd"><strong>Rows that answer nothing:</strong> ${counts}.</p>`
      : request.matched_by === 'count'
        ? '<p class="odd">The rows were counted only: there are too many tokens to compare.</p>'
        : '<p class="fine">Every row of the results answers a row of the request.</p>';
  return `<section><h2>Against the request</h2>
<p>${escapeHtml(request.file)}: ${escapeHtml(sumOf(report, request))}</p>
${verdict}
</section>
`;
}

function codeSection({ codes, rows }: Report): string {
  if (codes.length === 0) return '<section><h2>By result code</h2><p>The file has no rows.</p></section>\n';
  const bars = codes.map(({ code, count, class: kind }) => barOf(shownCode(code), count, rows, kind));
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
  return `<tr role="row"><th scope="row" role="rowheader">${escapeHtml(shownCode(code))}</th><td role="cell" class="number" data-label="Rows">${formatNumber(count)}</td><td role="cell" class="number" data-label="Share">${formatPercent(share)}</td><td role="cell" data-label="Meaning">${escapeHtml(meaning)}</td><td role="cell" data-label="What to do">${escapeHtml(action)}</td></tr>`;
}

function columnSection({ extra_columns: names }: Report): string {
  if (names.length === 0) return '';
  const items = names.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ');
  return `<section><h2>Columns not known here</h2><p>${items}</p></section>\n`;
}
