import { type Cell, measureCells, NOTHING } from './cells.ts';
import { ColumnPlan, GAP } from './column-plan.ts';
import { cleanText, isNarrow } from './text.ts';
import type { TextWidth } from './text-width.ts';
import {
  chooseFields,
  type Column,
  columnFor,
  labelOf,
  leafPaths,
  paint,
  type Palette,
  plainPalette,
  type Renderer,
  type RenderOptions,
  same,
} from './view.ts';

/** The largest number of rows that cli-table3 draws, at about a millisecond per row. */
const MAX_DRAWN_ROWS = 1000;

/** How text is measured and colored. */
interface Pen {
  readonly ruler: TextWidth;
  readonly palette: Palette;
}

/**
 * Renders a table page by page: two spaces between columns, no borders, no spaces at a line's end. The first page decides the
 * columns: on a narrow terminal text shrinks first, then columns of low priority are dropped. If the rest still does not fit,
 * or with `plain`, each row is drawn as an object. In a pipe nothing is cut.
 */
export function tableRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width = Infinity, palette = plainPalette, plain = false, redact = same } = options;
  const chosen = chooseFields(view, options.fields);
  const columns = chosen?.map((path) => columnFor(view, path)) ?? view.columns;
  const labels = columns.map((column) => redact(labelOf(column)));
  const plan = new ColumnPlan(columns, width, chosen === undefined);
  const drawObject = plain ? drawPlain : drawFields;
  let count = 0;

  return {
    isRedacted: options.redact !== undefined,
    record: async (value) => {
      const fields = fieldsOf(value, chosen, options);
      const { rows, ruler } = await measureCells([value], fields, options);
      const known = new Set(view.fields);
      const names = fields.map((field) => redact(cleanText(known.has(field.path) ? labelOf(field) : field.path)));
      return drawObject(names, rows[0] ?? [], width, { ruler, palette });
    },
    rows: async (batch) => {
      if (batch.length === 0) return '';
      const { rows, ruler } = await measureCells(batch, columns, options);
      const pen = { ruler, palette };
      const isFirst = count === 0;
      count += batch.length;
      if (isFirst && chosen === undefined) plan.leaveOut(repeating(columns, batch));
      const page = isFirst ? [headerOf(columns, labels), ...rows] : rows;
      const widths = plain ? undefined : plan.widthsFor(page);
      if (widths === undefined)
        return (isFirst ? '' : '\n') + rows.map((cells) => drawObject(labels, cells, width, pen)).join('\n');
      const shown = page.map((cells) => plan.shown.flatMap((at) => cells[at] ?? []));
      return width < Infinity && count <= MAX_DRAWN_ROWS ? drawTable(shown, widths, pen) : joinRows(shown, widths, pen);
    },
  };
}

/** Returns the positions of columns that only repeat other columns on this page. */
function repeating<T>(columns: readonly Column<T>[], batch: readonly T[]): number[] {
  return columns.flatMap(({ repeats }, at) => (repeats !== undefined && batch.every(repeats) ? [at] : []));
}

/** Returns the headings as cells of their columns' kinds, so that they shrink and are aligned like the values below. */
function headerOf<T>(columns: readonly Column<T>[], labels: readonly string[]): Cell[] {
  return columns.map(({ kind }, at) => {
    const text = (labels[at] ?? '').toUpperCase();
    return { text, width: text.length, kind, tone: 'strong' };
  });
}

/** Draws a table for a terminal with cli-table3. */
async function drawTable(rows: readonly (readonly Cell[])[], widths: readonly number[], { ruler, palette }: Pen) {
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colWidths: [...widths],
    colAligns: (rows[0] ?? []).map(({ kind }) => (kind === 'number' ? 'right' : 'left')),
  });
  const replacedTexts: string[] = [];
  for (const cells of rows)
    table.push(
      cells.map(({ text, tone }, at) => {
        if (isNarrow(text)) return paint(text, tone, palette);
        const cut = ruler.cut(text, widths[at] ?? 0);
        replacedTexts.push(cut);
        return paint(STAND_IN.repeat(Math.max(1, ruler.width(cut))), tone, palette);
      }),
    );
  const drawn = table.toString().replaceAll(STAND_INS, () => replacedTexts.shift() ?? '');
  return `${drawn.replaceAll(/ +$/gm, '')}\n`;
}

// cli-table3 measures text beyond ASCII by an older Unicode, and would cut identifiers. Therefore it draws stand-ins of the
// right width, which the text then replaces.
const STAND_IN = '\uE000';
const STAND_INS = /\uE000+/g;

const BORDERS = ['top', 'bottom', 'left', 'mid', 'right'].flatMap((name) =>
  ['', '-mid', '-left', '-right'].map((end) => [name + end, '']),
);
const NO_BORDERS: object = { ...Object.fromEntries(BORDERS), middle: ' '.repeat(GAP) };

/** Draws the same as {@link drawTable}, but fast, for pipes and long lists. */
function joinRows(rows: readonly (readonly Cell[])[], widths: readonly number[], { ruler, palette }: Pen): string {
  const lines = rows.map((cells) => {
    const parts = cells.map(({ text, width, kind, tone }, at) => {
      const column = widths[at] ?? width;
      const shown = width > column ? ruler.cut(text, column) : text;
      const padding = ' '.repeat(Math.max(0, column - (shown === text ? width : ruler.width(shown))));
      const painted = paint(shown, tone, palette);
      if (kind === 'number') return padding + painted;
      return at === cells.length - 1 ? painted : painted + padding;
    });
    return `${parts.join(' '.repeat(GAP))}\n`;
  });
  return lines.join('');
}

/** Returns the chosen fields of an object as columns; without a choice, its known fields, then its unknown ones. */
function fieldsOf<T>(value: T, chosen: readonly string[] | undefined, { view }: RenderOptions<T>): Column<T>[] {
  if (chosen !== undefined) return chosen.map((path) => columnFor(view, path));
  const present = leafPaths(value);
  const has = new Set(present);
  const paths = new Set([...view.fields.filter((field) => has.has(field)), ...present]);
  return [...paths].map((path) => columnFor(view, path)).filter(({ repeats }) => repeats?.(value) !== true);
}

/** Draws an aligned line for each value. A value that does not fit goes below its label and is wrapped, except an id. */
function drawFields(labels: readonly string[], cells: readonly Cell[], width: number, { ruler, palette }: Pen): string {
  const labelWidths = labels.map((label) => ruler.width(label));
  const widest = Math.max(0, ...labelWidths);
  const lines = cells.flatMap((cell, at) => {
    const label = paint(labels[at] ?? '', 'strong', palette);
    const taken = labelWidths[at] ?? 0;
    if (taken + GAP + cell.width <= width) {
      const padding = widest + GAP + cell.width <= width ? widest - taken : 0;
      return [label + ' '.repeat(GAP + padding) + paint(cell.text, cell.tone, palette)];
    }
    const room = Math.max(2, width - GAP);
    const pieces = cell.kind === 'id' ? [cell.text] : wrapAtSpaces(cell.text, room, ruler);
    return [label, ...pieces.map((piece) => ' '.repeat(GAP) + paint(piece.trimEnd(), cell.tone, palette))];
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Wraps a text at spaces, of which it drops only those at the end of a line, and longer words anywhere. */
function wrapAtSpaces(text: string, width: number, ruler: TextWidth): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (line !== '' && ruler.width(line + word.trimEnd()) > width) {
      lines.push(line);
      line = '';
    }
    line += word;
  }
  return [...lines, line].flatMap((one) => ruler.wrap(one.trimEnd(), width));
}

/** Draws a `label: value` line for each present value, for a screen reader. */
function drawPlain(labels: readonly string[], cells: readonly Cell[], _width: number, { palette }: Pen): string {
  const lines = cells.flatMap(({ text, tone }, at) =>
    text === NOTHING ? [] : [`${paint(`${labels[at] ?? ''}:`, 'strong', palette)} ${paint(text, tone, palette)}`],
  );
  return `${lines.join('\n') || '(empty)'}\n`;
}
