import { formatNumber, formatPercent } from '../render/quantity.ts';
import { CLASS_NAMES, PILE_NAMES, type Report } from '../views/report.ts';
import { type Bar, barChart } from './chart.ts';

/** How many rows there are of each class. */
export function classSection(report: Report): string {
  const whole = report.rows + (report.request?.unchanged ?? 0);
  const counts = CLASS_NAMES.map(([kind, name]) => ({
    kind: kind as string,
    name,
    count: report.codes.reduce((sum, code) => (code.class === kind ? sum + code.count : sum), 0),
  })).filter(({ kind, count }) => kind !== 'unknown' || count > 0);
  if (report.request) counts.push({ kind: 'unchanged', name: 'unchanged', count: report.request.unchanged });
  return countSection(
    { id: 'classes', title: 'By class', column: 'Class', caption: 'Rows by class' },
    counts,
    whole,
  );
}

/** What the codes ask for, with what the operator chose for them. */
export function stepSection({ codes, rows }: Report): string {
  const counts = PILE_NAMES.map(([pile, name]) => ({
    kind: pile as string,
    name,
    count: codes.reduce((sum, code) => (code.pile === pile ? sum + code.count : sum), 0),
  })).filter(({ count }) => count > 0);
  if (counts.length === 0) return '';
  return countSection(
    { id: 'steps', title: 'What to do', column: 'Step', caption: 'Rows by what to do' },
    counts,
    rows,
  );
}

interface Counted {
  /** Name of a class of the style sheet. */
  readonly kind: string;
  readonly name: string;
  readonly count: number;
}

interface CountText {
  readonly id: string;
  readonly title: string;
  /** Head of the first column. */
  readonly column: string;
  readonly caption: string;
}

/** A chart, and the same as a table. */
function countSection(
  { id, title, column, caption }: CountText,
  counts: readonly Counted[],
  whole: number,
): string {
  const bars = counts.map(({ kind, name, count }) => barOf(name, count, whole, kind));
  const rows = counts.map(
    ({ name, count }) =>
      `<tr><th scope="row">${name}</th><td class="number">${formatNumber(count)}</td><td class="number">${shareOf(count, whole)}</td></tr>`,
  );
  return `<section><h2>${title}</h2>
${barChart({ id, title: caption }, bars, whole)}
<table><caption>${caption}</caption>
<thead><tr><th scope="col">${column}</th><th scope="col" class="number">Rows</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
</section>
`;
}

/** A bar with its count and share. */
export function barOf(label: string, count: number, whole: number, tone: string): Bar {
  return { label, words: `${formatNumber(count)} (${shareOf(count, whole)})`, value: count, tone };
}

function shareOf(count: number, whole: number): string {
  return whole === 0 ? '0%' : formatPercent(count / whole);
}
