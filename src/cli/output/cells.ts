import { JsonToken } from '../../base/json/exact.ts';
import type { TimeStyle } from '../config/values.ts';
import { jsonLine } from './formats.ts';
import { cleanText, isNarrow } from './text.ts';
import { asciiWidth, loadUnicodeWidth, type TextWidth } from './text-width.ts';
import { formatTime } from './time.ts';
import { formatNumber } from './number.ts';
import {
  type Column,
  type ColumnType,
  isObject,
  MARKS,
  memberRedactor,
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

/** The text of a cell whose value is absent, null or blank. */
export const NOTHING = '-';

/** Rows as measured cells, and the ruler that measured them. */
interface MeasuredRows {
  readonly rows: readonly (readonly Cell[])[];
  readonly ruler: TextWidth;
}

/** Formats and measures the cells of a batch. Loads the ruler for wide characters only if a cell has such characters. */
export async function measureCells<T>(
  batch: readonly T[],
  columns: readonly Column<T>[],
  options: RenderOptions<T>,
): Promise<MeasuredRows> {
  const project = projection(options.view, undefined, options.showUrls ?? false);
  const { time = 'utc', redact = same, marks = false } = options;
  const now = options.now?.() ?? 0;
  const redactors = columns.map(({ path }) => memberRedactor(path, redact));
  const texts = batch.map((row) => {
    const shown = project(row);
    return columns.map(({ path, kind, repeats, show = same }, at) => {
      const text =
        repeats?.(row) === true ? '' : cellText(redact(formatValue(show(valueAt(shown, path), row), kind, time, now)));
      return text === '' ? NOTHING : (redactors[at] ?? redact)(text);
    });
  });
  const narrow = texts.every((row) => row.every((text) => isNarrow(text)));
  const ruler = narrow ? asciiWidth : await loadUnicodeWidth();
  const rows = batch.map((row, at) =>
    columns.map(({ path, kind, paint }, index): Cell => {
      const text = texts[at]?.[index] ?? NOTHING;
      const tone = paint?.(valueAt(row, path), row) ?? (kind === 'id' || kind === 'time' ? 'quiet' : undefined);
      const mark =
        marks && kind === 'status' && text !== NOTHING && (tone === 'good' || tone === 'bad') ? MARKS[tone] : '';
      return { text: mark + text, width: mark.length + ruler.width(text), kind, tone };
    }),
  );
  return { rows, ruler };
}

/** Returns a text as one safe line without trailing spaces. The text must be redacted first: escapes could hide a secret. */
function cellText(text: string): string {
  return cleanText(text).trimEnd();
}

function formatValue(value: unknown, kind: ColumnType, time: TimeStyle, now: number): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return kind === 'time' ? formatTime(value, time, now) : value;
  if ((typeof value === 'number' || value instanceof JsonToken) && kind === 'number') return formatNumber(value);
  if (value instanceof JsonToken) return value.text;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return isObject(value) && Object.keys(value).length === 0 ? '' : jsonLine(value);
}
