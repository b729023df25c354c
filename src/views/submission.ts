import { drawBar } from '../render/bars.ts';
import { hangText } from '../render/hanging.ts';
import { formatNumber } from '../render/quantity.ts';
import type { Palette, Tone, View } from '../render/view.ts';
import { wrapWords } from '../render/wrap.ts';

/** A request file that was submitted, and its results where they were waited for. */
export interface Submission {
  /** Its record on this machine: what to go on with. */
  readonly run: string;
  readonly status: string;
  readonly file: string;
  readonly rows: number;
  /** Its job, where it has just one. */
  readonly job: string | null;
  readonly jobs: readonly string[];
  readonly results?: Results | Pick<Results, 'file'>;
}

/** The results of a job in numbers. */
export interface Results {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
  /** Rows with result codes of no known kind. */
  readonly unknown: number;
  /** Rows that came back without any result, because nothing about them changed. */
  readonly unchanged: number;
  readonly codes: readonly CodeRow[];
}

/** How often a result code came. */
export interface CodeRow {
  readonly code: string;
  readonly class: string;
  readonly count: number;
  readonly action: string;
}

/** How a submission is shown. */
export const submissionView: View<Submission> = {
  name: 'submission',
  fields: [
    'run',
    'status',
    'file',
    'rows',
    'job',
    'jobs',
    'results.file',
    'results.bytes',
    'results.sha256',
    'results.updated',
    'results.warned',
    'results.errors',
    'results.unknown',
    'results.unchanged',
    'results.codes',
  ],
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status' },
    { path: 'rows', kind: 'number' },
    { path: 'file', kind: 'text', priority: 2 },
    { path: 'job', kind: 'id', priority: 1 },
  ],
};

const TONES: Readonly<Record<string, Tone>> = { updated: 'good', warned: 'warn', error: 'bad' };
const BAR_COLUMNS = 16;

/** How results are drawn. */
export interface DrawResultsOptions {
  readonly palette: Palette;
  readonly unicode: boolean;
  readonly plain: boolean;
  /** How wide it may be; infinite where nothing is to be broken. */
  readonly columns: number;
}

/** The results as a picture: one bar a result code, and what it asks for. */
export function drawResults(rows: number, results: Results, options: DrawResultsOptions): string {
  const { palette } = options;
  const { updated, warned, errors, unknown, unchanged, codes } = results;
  const unknownWords = unknown > 0 ? `, ${formatNumber(unknown)} with codes not known here` : '';
  const total = `${formatNumber(rows)} rows: ${formatNumber(updated)} updated, ${formatNumber(warned)} warnings, ${formatNumber(errors)} errors, ${formatNumber(unchanged)} unchanged${unknownWords}`;
  const title = wrapWords(total, options.columns).map((line) => palette.strong(line));
  return ['', ...title, '', ...codeLines(codes, options), ''].join('\n');
}

function codeLines(
  codes: readonly CodeRow[],
  { palette, unicode, plain, columns }: DrawResultsOptions,
): string[] {
  const most = Math.max(0, ...codes.map(({ count }) => count));
  const codeWidth = Math.max(0, ...codes.map(({ code }) => code.length));
  const countWidth = formatNumber(most).length;
  // On a narrow terminal the bar gives way; the numbers say the same.
  const room = columns - codeWidth - countWidth - 5;
  const barWidth = plain ? 0 : Math.max(0, Math.min(BAR_COLUMNS, room));
  return codes.map(({ code, class: kind, count, action }) => {
    const bar = drawBar(count, most, barWidth, { unicode, plain });
    const padded = bar + ' '.repeat(barWidth - bar.length);
    const tone = TONES[kind];
    const picture = barWidth === 0 ? '' : `${tone === undefined ? padded : palette[tone](padded)}  `;
    const lead = `${code.padEnd(codeWidth)}  ${formatNumber(count).padStart(countWidth)}  ${picture}`;
    return hangText(lead, codeWidth + countWidth + 4 + (barWidth === 0 ? 0 : barWidth + 2), action, columns);
  });
}
