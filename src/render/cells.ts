import { JsonToken } from '../exact-json.ts';
import type { TimeStyle } from '../output-format.ts';
import { cleanText } from './clean.ts';
import { projection } from './fields.ts';
import type { RenderOptions } from './format.ts';
import type { Cell } from './grid.ts';
import { jsonLine } from './json.ts';
import { isObject, valueAt } from './paths.ts';
import { formatNumber } from './quantity.ts';
import { isNarrow, type Ruler, narrowRuler, wideRuler } from './ruler.ts';
import { formatTime } from './time.ts';
import type { Column, ColumnKind } from './view.ts';

/** What stands for a value that is absent, null or blank. */
const NOTHING = '-';

/** Rows as measured cells, and the ruler that measured them. */
export interface Measured {
  readonly lines: readonly (readonly Cell[])[];
  readonly ruler: Ruler;
}

/** The cells of a batch for these columns. The ruler for wide characters is loaded only if one is met. */
export async function measureCells<T>(
  batch: readonly T[],
  columns: readonly Column<T>[],
  options: RenderOptions<T>,
): Promise<Measured> {
  const project = projection(options.view, undefined, options.showUrls ?? false);
  const { time = 'utc', redact = unchanged } = options;
  const now = options.now?.() ?? 0;
  const texts = batch.map((row) => {
    const shown = project(row);
    return columns.map(({ path, kind }) => redact(cellText(valueAt(shown, path), kind, time, now)));
  });
  const narrow = texts.every((row) => row.every((text) => isNarrow(text)));
  const ruler = narrow ? narrowRuler : await wideRuler();
  const lines = batch.map((row, at) =>
    columns.map(({ path, kind, paint }, index): Cell => {
      const text = texts[at]?.[index] ?? NOTHING;
      return { text, width: ruler.width(text), kind, tone: paint?.(valueAt(row, path), row) };
    }),
  );
  return { lines, ruler };
}

/** A value as one line of a table: times and numbers by the column's kind, cleaned, without spaces at its end. */
function cellText(value: unknown, kind: ColumnKind, time: TimeStyle, now: number): string {
  const text = cleanText(formatted(value, kind, time, now)).trimEnd();
  return text === '' ? NOTHING : text;
}

function formatted(value: unknown, kind: ColumnKind, time: TimeStyle, now: number): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return kind === 'time' ? formatTime(value, time, now) : value;
  if (value instanceof JsonToken) return value.text;
  if (typeof value === 'number' && kind === 'number') return formatNumber(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return isObject(value) && Object.keys(value).length === 0 ? '' : jsonLine(value);
}

function unchanged(text: string): string {
  return text;
}
