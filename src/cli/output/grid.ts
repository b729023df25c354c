import { JsonToken } from '../../base/json/exact.ts';
import type { TimeStyle } from '../config/values.ts';
import { jsonLine } from './formats.ts';
import { asciiWidth, cleanText, isNarrow, loadUnicodeWidth, type TextWidth } from './text.ts';
import { formatNumber, formatTime } from './time.ts';
import {
  type Column,
  columnFor,
  type ColumnType,
  isObject,
  labelOf,
  leafPaths,
  MARKS,
  memberRedactor,
  paint,
  type Palette,
  plainPalette,
  projection,
  type RenderOptions,
  same,
  type Tone,
  valueAt,
} from './view.ts';

/** One value of a table, ready for output: safe text, its width in columns, and its tone. */
export interface Cell {
  readonly text: string;
  readonly width: number;
  readonly kind: ColumnType;
  readonly tone?: Tone | undefined;
}

export interface CellStyle {
  readonly ruler: TextWidth;
  readonly palette: Palette;
}

/** Draws cells side by side, numbers to the right, text cut to its column, without trailing spaces. */
export function drawRow(cells: readonly Cell[], widths: readonly number[], pen: CellStyle): string {
  const parts = cells.map((cell, at) => {
    const column = widths[at] ?? cell.width;
    const cut = cell.kind === 'text' && cell.width > column;
    const text = cut ? pen.ruler.cut(cell.text, column) : cell.text;
    const padding = ' '.repeat(Math.max(0, column - (cut ? pen.ruler.width(text) : cell.width)));
    const painted = paint(text, cell.tone, pen.palette);
    if (cell.kind === 'number') return padding + painted;
    return at === cells.length - 1 ? painted : painted + padding;
  });
  return `${parts.join(' '.repeat(GAP))}\n`;
}

/** Draws a `label: value` line for each cell. A value that does not fit goes below its label; only an id is not broken. */
export function drawFields(
  labels: readonly string[],
  cells: readonly Cell[],
  width: number,
  { isAligned, ...pen }: CellStyle & { readonly isAligned: boolean },
): string {
  const widest = Math.max(0, ...labels.map((label) => pen.ruler.width(label)));
  const lines = cells.flatMap((cell, at) => {
    const label = `${labels[at] ?? ''}${isAligned ? '' : ':'}`;
    const head = paint(label, 'strong', pen.palette);
    const own = pen.ruler.width(label);
    const gap = isAligned ? GAP : 1;
    if (own + gap + cell.width > width) return [head, ...linesBelow(cell, width, pen)];
    const padding = isAligned && widest + gap + cell.width <= width ? widest - own : 0;
    return [head + ' '.repeat(gap + padding) + paint(cell.text, cell.tone, pen.palette)];
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Draws a `label: value` line for each present value, for a screen reader. */
export function drawPlain(labels: readonly string[], cells: readonly Cell[], palette: Palette): string {
  const lines = cells.flatMap(({ text, tone }, at) =>
    text === NOTHING ? [] : [`${paint(`${labels[at] ?? ''}:`, 'strong', palette)} ${paint(text, tone, palette)}`],
  );
  return `${lines.join('\n') || '(empty)'}\n`;
}

// The value goes below its label, indented. An identifier is not broken, so that it can be copied.
function linesBelow(cell: Cell, width: number, pen: CellStyle): string[] {
  const pieces = cell.kind === 'id' ? [cell.text] : pen.ruler.wrap(cell.text, Math.max(2, width - GAP));
  return pieces.map((piece) => ' '.repeat(GAP) + paint(piece.trimEnd(), cell.tone, pen.palette));
}

/** Width of the space between two columns of a table. */
const GAP = 2;

/** The width of a column: all of `natural` if it may not be cut, else at least `least`. */
export interface ColumnConstraint {
  readonly natural: number;
  readonly least: number;
}

/** Fits columns into `width` with gaps, or returns undefined. The widest shrink first, to a common width. */
export function fitWidths(tracks: readonly ColumnConstraint[], width: number): number[] | undefined {
  const room = width - GAP * (tracks.length - 1);
  if (sum(tracks.map(({ least }) => least)) > room) return undefined;
  let cap = Math.min(room, Math.max(0, ...tracks.map(({ natural }) => natural)));
  while (sum(capped(tracks, cap)) > room) cap -= 1;
  return handOut(tracks, capped(tracks, cap), room);
}

/** Returns the columns that a row of cells of these widths takes. */
export function widthOf(widths: readonly number[]): number {
  return sum(widths) + GAP * (widths.length - 1);
}

function capped(tracks: readonly ColumnConstraint[], cap: number): number[] {
  return tracks.map(({ natural, least }) => Math.max(least, Math.min(natural, cap)));
}

// Lowering the common width by one may free more room than needed, which goes back to the first columns.
function handOut(tracks: readonly ColumnConstraint[], widths: readonly number[], room: number): number[] {
  let spare = room - sum(widths);
  return tracks.map(({ natural }, at) => {
    const width = widths[at] ?? 0;
    if (spare <= 0 || width >= natural) return width;
    spare -= 1;
    return width + 1;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Shown for a value that is absent, null or blank. */
const NOTHING = '-';

/** Rows as measured cells, and the ruler that was used. */
export interface Measured {
  readonly lines: readonly (readonly Cell[])[];
  readonly ruler: TextWidth;
}

/** Measures the cells of a batch. The ruler for wide characters is loaded only when needed. */
export async function measureCells<T>(batch: readonly T[], columns: readonly Column<T>[], options: RenderOptions<T>) {
  const project = projection(options.view, undefined, options.showUrls ?? false);
  const { time = 'utc', redact = same, marks = false } = options;
  const now = options.now?.() ?? 0;
  const redactors = columns.map(({ path }) => memberRedactor(path, redact));
  const texts = batch.map((row) => {
    const shown = project(row);
    return columns.map(({ path, kind, repeats, show = same }, at) => {
      const text =
        repeats?.(row) === true ? '' : cellText(redact(formatted(show(valueAt(shown, path), row), kind, time, now)));
      return text === '' ? NOTHING : (redactors[at] ?? redact)(text);
    });
  });
  const narrow = texts.every((row) => row.every((text) => isNarrow(text)));
  const ruler = narrow ? asciiWidth : await loadUnicodeWidth();
  const lines = batch.map((row, at) =>
    columns.map(({ path, kind, paint }, index): Cell => {
      const text = texts[at]?.[index] ?? NOTHING;
      const tone = paint?.(valueAt(row, path), row) ?? (kind === 'id' || kind === 'time' ? 'quiet' : undefined);
      const mark =
        marks && kind === 'status' && text !== NOTHING && (tone === 'good' || tone === 'bad') ? MARKS[tone] : '';
      return { text: mark + text, width: mark.length + ruler.width(text), kind, tone };
    }),
  );
  return { lines, ruler };
}

/** Returns a text as one safe line without trailing spaces. Secrets are removed before, as a line break becomes `\n`. */
function cellText(text: string): string {
  return cleanText(text).trimEnd();
}

function formatted(value: unknown, kind: ColumnType, time: TimeStyle, now: number): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return kind === 'time' ? formatTime(value, time, now) : value;
  if ((typeof value === 'number' || value instanceof JsonToken) && kind === 'number') return formatNumber(value);
  if (value instanceof JsonToken) return value.text;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return isObject(value) && Object.keys(value).length === 0 ? '' : jsonLine(value);
}

/** Draws one object as aligned `field  value` lines: the chosen fields, or its known fields and then new ones. */
export async function drawRecord<T>(value: T, chosen: readonly string[] | undefined, options: RenderOptions<T>) {
  const paths = chosen ?? pathsOf(value, options);
  const columns = paths
    .map((path) => columnFor(options.view, path))
    .filter(({ repeats }) => chosen !== undefined || repeats?.(value) !== true);
  const { lines, ruler } = await measureCells([value], columns, options);
  const known = new Set(options.view.fields);
  const { palette = plainPalette, plain = false, width = Infinity, redact = same } = options;
  const labels = columns.map((column) => redact(cleanText(known.has(column.path) ? labelOf(column) : column.path)));
  if (plain) return drawPlain(labels, lines[0] ?? [], palette);
  return drawFields(labels, lines[0] ?? [], width, { ruler, palette, isAligned: true });
}

function pathsOf<T>(value: T, { view }: RenderOptions<T>): readonly string[] {
  const present = leafPaths(value);
  const has = new Set(present);
  return [...new Set([...view.fields.filter((field) => has.has(field)), ...present])];
}
