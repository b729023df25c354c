// A report about entries, drawn on a terminal or as a page.

import type { Context } from '../../cli/app/command.ts';
import { renderOptions } from '../../cli/app/print.ts';
import { drawBar, drawSparkline } from '../../cli/output/bars.ts';
import { type PageColumn, pageTable, timeCell } from '../../cli/output/page-table.ts';
import { escapeHtml, htmlPage, pageSection } from '../../cli/output/page.ts';
import { tableRenderer } from '../../cli/output/table.ts';
import { wrapWords } from '../../cli/output/wrap.ts';
import { isoTime, utcTime } from '../../cli/output/time.ts';
import { formatNumber } from '../../cli/output/number.ts';
import { type Column, labelOf, same, type Tone, valueAt } from '../../cli/output/view.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { type Actor, type ActorLabels, actorText, wholeActorText } from '../actor.ts';
import { type Sentence, sentencesText } from '../sentences.ts';

/** What people read of entries that were counted: drawn on a terminal by `drawReport`, or as a page by `reportPage`. */
export interface Report {
  readonly title: string;
  /** Sentences below the title, such as a warning about missing entries. */
  readonly sentences: readonly Sentence[];
  /** Where it comes from. Only a page shows it, because it is read elsewhere. */
  readonly source?: readonly string[];
  readonly sections: readonly Section[];
}

/** A part of a report. Without a table and hours, a terminal shows it in one line. */
export interface Section {
  readonly heading: string;
  readonly sentences?: readonly Sentence[];
  readonly table?: ReportTable | undefined;
  readonly hours?: Hours;
}

/** The number of entries in hours, in order of time. */
interface Hours {
  /** The beginnings of hours with their entries. Hours without any may be left out, since years may lie between two entries. */
  readonly counts: readonly { readonly at: number; readonly count: number }[];
  /** The beginnings of the hours that stand out. */
  readonly busy?: ReadonlySet<number>;
}

/** How a report names actors: with short ids on a terminal, and with whole ones on a page. */
export interface ReportWords {
  readonly actorOf: (actor: Actor) => string;
  /** Returns a bar for a share of the largest value. A page has none. */
  readonly barOf?: ((share: number) => string) | undefined;
}

/** Returns the words of a terminal, which cuts ids unless it is wide, or no terminal. */
export function terminalWords(context: Context, labels: ActorLabels): ReportWords {
  const textOf = context.globals.wide || !context.out.isTerminal ? wholeActorText : actorText;
  return {
    actorOf: (actor) => textOf(actor, labels),
    barOf: context.plain ? undefined : (share) => drawBar(share, 1, BAR_COLUMNS, context),
  };
}

export const BAR_COLUMNS = 16;

export function pageWords(labels: ActorLabels): ReportWords {
  return { actorOf: (actor) => wholeActorText(actor, labels) };
}

/** The rows of a section. */
interface ReportTable {
  /** Whether a terminal shows the section. */
  readonly isDrawn: boolean;
  readonly draw: (context: Context) => Promise<string>;
  readonly columns: readonly PageColumn[];
  readonly cells: readonly (readonly string[])[];
  /** The number of rows that a page does not have. */
  readonly left: number;
}

interface RowOptions {
  /** The most rows on a terminal. With 0, only a page has the section. */
  readonly most?: number;
  /** The number of rows that there are; more than those given where only the first ones were kept. */
  readonly total?: number;
}

/** Returns rows for a terminal and for a page. Columns that repeat others in all rows are left out. */
export function reportTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  { most = Infinity, total = rows.length }: RowOptions = {},
): ReportTable {
  const shown = columns.filter(({ repeats }) => repeats === undefined || !rows.every(repeats));
  const drawn = rows.slice(0, most);
  return {
    isDrawn: most > 0,
    async draw(context) {
      const view = { name: 'row of a report', fields: [], columns: shown };
      const options = renderOptions(context, view);
      const width = options.width === undefined ? undefined : options.width - INDENT.length;
      const text = await tableRenderer({ ...options, width }).rows(drawn);
      return text + (total > drawn.length ? `and ${formatNumber(total - drawn.length)} more (-o json)\n` : '');
    },
    columns: shown.map((column) => ({
      title: titleOf(column),
      isNumber: column.kind === 'number',
      isWhole: column.kind === 'time' || column.kind === 'id',
    })),
    cells: rows.map((row) => shown.map((column) => cellOf(column, row))),
    left: total - rows.length,
  };
}

function titleOf(column: Pick<Column, 'header' | 'path' | 'kind'>): string {
  const label = labelOf(column);
  return `${label.slice(0, 1).toUpperCase()}${label.slice(1)}${column.kind === 'time' ? ' (UTC)' : ''}`;
}

function cellOf<T>({ path, kind, show = same }: Column<T>, row: T): string {
  const value = show(valueAt(row, path), row);
  if (typeof value === 'string') return kind === 'time' ? timeCell(value) : value;
  if (typeof value === 'number') return formatNumber(value);
  return Array.isArray(value) ? value.join(', ') : '';
}

const INDENT = '  ';

/** Draws a report for a terminal. */
export async function drawReport(context: Context, { title, sentences, sections }: Report): Promise<string> {
  const head = sentencesText(context, [['strong', title], ...sentences]);
  const drawn: string[] = [];
  for (const section of sections) if (section.table?.isDrawn !== false) drawn.push(await drawSection(context, section));
  return `${head}\n${drawn.join('')}`;
}

async function drawSection(context: Context, { heading, sentences = [], table, hours }: Section): Promise<string> {
  if (!table && !hours) return sentencesText(context, [`${heading}: ${sentences.map(textOf).join(' ')}`]);
  const lines = [
    ...(hours ? hourLines(context, hours) : []),
    ...(table ? (await table.draw(context)).trimEnd().split('\n') : []),
    ...sentences.flatMap((sentence) => sentencesText(context, [sentence]).trimEnd().split('\n')),
  ];
  const title = hours ? `${heading} since ${utcTime(beginOf(hours))}` : heading;
  const indent = context.plain ? '' : INDENT;
  return sentencesText(context, [['strong', title]]) + lines.map((line) => `${line && indent}${line}\n`).join('');
}

function textOf(sentence: Sentence): string {
  return typeof sentence === 'string' ? sentence : sentence[1];
}

/** The numbers of hours that a mark can stand for. */
const HOURS_A_MARK = [1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 168] as const;

function beginOf({ counts: [first] }: Hours): number {
  return first?.at ?? 0;
}

/** Joins hours into at most `room` marks. Returns the number of hours in a mark, and the entries of each mark. */
function marksOf({ counts }: Hours, room: number): { readonly hours: number; readonly marks: readonly number[] } {
  const from = beginOf({ counts });
  const length = ((counts.at(-1)?.at ?? from) - from) / HOUR_MS + 1;
  const hours = HOURS_A_MARK.find((size) => length / size <= room) ?? Math.ceil(length / room);
  const marks = Array.from({ length: Math.ceil(length / hours) }, () => 0);
  for (const { at, count } of counts) {
    const mark = Math.floor((at - from) / HOUR_MS / hours);
    marks[mark] = (marks[mark] ?? 0) + count;
  }
  return { hours, marks };
}

function hourLines(context: Context, { counts }: Hours): string[] {
  const room = Math.max(10, context.out.width - INDENT.length);
  const { hours, marks } = marksOf({ counts }, room);
  const most = counts.reduce((best, each) => (each.count > best.count ? each : best), {
    at: beginOf({ counts }),
    count: 0,
  });
  const unit = hours === 1 || context.plain ? '' : `; each mark is ${hours} hours`;
  const peak = `peak: ${formatNumber(most.count)} at ${utcTime(most.at)}${unit}`;
  const drawn = context.plain ? [] : [context.palette.accent(drawSparkline(marks, context))];
  return [...drawn, ...wrapWords(peak, room)];
}

const CLASSES: Readonly<Record<Tone, string>> = {
  good: ' class="fine"',
  warn: ' class="odd"',
  bad: ' class="odd"',
  alarm: ' class="odd"',
  quiet: ' class="soft"',
  strong: '',
  accent: '',
};

/** Returns a report as one self-contained page. */
export function reportPage({ title, sentences, source = [], sections }: Report): string {
  const soft = source.map((text): Sentence => ['quiet', text]);
  return htmlPage(
    { title, heading: title },
    [...sentences, ...soft].map(sentenceHtml).join('') + sections.map(sectionHtml).join(''),
  );
}

function sentenceHtml(sentence: Sentence): string {
  const tone = typeof sentence === 'string' ? '' : CLASSES[sentence[0]];
  return `<p${tone}>${escapeHtml(textOf(sentence))}</p>\n`;
}

function sectionHtml({ heading, sentences = [], table, hours }: Section): string {
  const words = (hours ? chart(hours) : '') + sentences.map(sentenceHtml).join('');
  if (!table) return pageSection(heading, words);
  const after = table.left > 0 ? `<p>and ${formatNumber(table.left)} more</p>` : '';
  return pageSection(heading, words + pageTable(heading, table.columns, table.cells) + after);
}

const HEIGHT = 140;
/** The most columns of a chart. */
const MAX_COLUMNS = 96;

/** Returns a column chart. */
function chart({ counts, busy = new Set() }: Hours): string {
  const from = beginOf({ counts });
  const { hours, marks } = marksOf({ counts }, MAX_COLUMNS);
  const maxMark = Math.max(1, ...marks);
  const beginOfMark = (at: number): number => from + at * hours * HOUR_MS;
  const timeOf = (at: number): string => isoTime(beginOfMark(at)).slice(5, 16).replace('T', ' ');
  const every = Math.ceil(marks.length / 4);
  const width = 100 / marks.length;
  const columns = marks.map((count, at) => {
    const height = count === 0 ? 0 : Math.max(1, Math.round((count / maxMark) * HEIGHT));
    const x = `${(at * width).toFixed(2)}%`;
    const label = at % every === 0 ? `<text x="${x}" y="${HEIGHT + 18}">${timeOf(at)}</text>` : '';
    return `<rect class="${busy.has(beginOfMark(at)) ? 'warned' : 'unchanged'}" x="${x}" y="${HEIGHT - height}" width="${(width * 0.8).toFixed(2)}%" height="${height}"/>${label}`;
  });
  return `<svg class="chart" role="img" aria-labelledby="hours-title hours-desc" width="100%" height="${HEIGHT + 24}">
<title id="hours-title">Entries per ${hours === 1 ? 'hour' : `${hours} hours`}, UTC</title>
<desc id="hours-desc">${marks.map((count, at) => `${timeOf(at)}: ${formatNumber(count)}`).join('; ')}</desc>
${columns.join('\n')}</svg>
`;
}
