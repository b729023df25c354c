import { escapeHtml } from './escape.ts';

/** One bar of a chart. */
export interface Bar {
  readonly label: string;
  /** What stands at its end: "1,234 (12.3%)". */
  readonly words: string;
  readonly value: number;
  /** Name of a class of the style sheet that colours it. */
  readonly tone: string;
}

/** What a chart is called, for who cannot see it too. */
export interface ChartText {
  /** Unique in the page. */
  readonly id: string;
  readonly title: string;
}

const ROW = 42;
const BAR_TOP = 20;
const BAR_HEIGHT = 12;

/**
 * Horizontal bars as SVG, each its share of `whole`, which is as wide as the chart. Lengths are percentages and there is no viewBox, so that text keeps its size on a narrow
 * screen: it stands above its bar, the numbers at the right.
 */
export function barChart({ id, title }: ChartText, bars: readonly Bar[], whole: number): string {
  const told = bars.map(({ label, words }) => `${label}: ${words}`).join('; ');
  const rows = bars.map((bar, at) => barOf(bar, at * ROW, whole)).join('');
  return `<svg class="chart" role="img" aria-labelledby="${id}-title ${id}-desc" width="100%" height="${bars.length * ROW}">
<title id="${id}-title">${escapeHtml(title)}</title>
<desc id="${id}-desc">${escapeHtml(told)}</desc>
${rows}</svg>`;
}

function barOf({ label, words, value, tone }: Bar, top: number, whole: number): string {
  const width = value === 0 ? 0 : Math.max(0.5, (value / whole) * 100);
  const text = top + 14;
  const bar = top + BAR_TOP;
  return `<text x="0" y="${text}">${escapeHtml(label)}</text><text class="end" x="100%" y="${text}">${escapeHtml(words)}</text>
<rect class="track" x="0" y="${bar}" width="100%" height="${BAR_HEIGHT}" rx="2"/><rect class="${tone}" x="0" y="${bar}" width="${width.toFixed(2)}%" height="${BAR_HEIGHT}" rx="2"/>
`;
}
