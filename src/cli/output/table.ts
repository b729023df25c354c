import { type Cell, measureCells, NOTHING } from './cells.ts';
import { ColumnPlan, GAP } from './column-plan.ts';
import { cleanText, isNarrow, type TextWidth } from './text.ts';
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

/** The longest list that cli-table3 draws, which takes a millisecond for each row. */
const MOST_DRAWN = 1000;

/** How text is measured and colored. */
interface Pen {
  readonly ruler: TextWidth;
  readonly palette: Palette;
}

/**
 * A table in pages: two spaces between columns, no borders, no spaces at a line's end. On a terminal the first page
 * settles the columns: text shrinks first, then columns of low priority drop, and when even that does not fit each
 * row is shown as an object is, as each is where the table is to be plain. Elsewhere nothing is cut.
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
      return width < Infinity && count <= MOST_DRAWN ? drawTable(shown, widths, pen) : joinRows(shown, widths, pen);
    },
  };
}

/** Returns the columns that only repeat others on this page. */
function repeating<T>(columns: readonly Column<T>[], batch: readonly T[]): number[] {
  return columns.flatMap(({ repeats }, at) => (repeats !== undefined && batch.every(repeats) ? [at] : []));
}

// A heading over identifiers or times keeps its width; over text it may shrink, over numbers it is aligned to the right.
function headerOf<T>(columns: readonly Column<T>[], labels: readonly string[]): Cell[] {
  return columns.map(({ kind }, at) => {
    const text = (labels[at] ?? '').toUpperCase();
    return { text, width: text.length, kind, tone: 'strong' };
  });
}

/** Draws what a person looks at. */
async function drawTable(rows: readonly (readonly Cell[])[], widths: readonly number[], { ruler, palette }: Pen) {
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colWidths: [...widths],
    colAligns: (rows[0] ?? []).map(({ kind }) => (kind === 'number' ? 'right' : 'left')),
  });
  const replaced: string[] = [];
  for (const cells of rows)
    table.push(
      cells.map(({ text, tone }, at) => {
        if (isNarrow(text)) return paint(text, tone, palette);
        const cut = ruler.cut(text, widths[at] ?? 0);
        replaced.push(cut);
        return paint(STAND_IN.repeat(Math.max(1, ruler.width(cut))), tone, palette);
      }),
    );
  const drawn = table.toString().replaceAll(STAND_INS, () => replaced.shift() ?? '');
  return `${drawn.replaceAll(/ +$/gm, '')}\n`;
}

// cli-table3 measures text that is not ASCII by an older Unicode, and would cut an identifier. It gets stand-ins that are as
// wide as the text on a terminal.
const STAND_IN = '\uE000';
const STAND_INS = /\uE000+/g;

const BORDERS = ['top', 'bottom', 'left', 'mid', 'right'].flatMap((name) =>
  ['', '-mid', '-left', '-right'].map((end) => [name + end, '']),
);
const NO_BORDERS: object = { ...Object.fromEntries(BORDERS), middle: ' '.repeat(GAP) };

/** Draws like {@link drawTable}, for a pipe and for long lists, which it would slow down. */
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

/** Returns the chosen fields of an object as columns, or its known fields and then new ones. */
function fieldsOf<T>(value: T, chosen: readonly string[] | undefined, { view }: RenderOptions<T>): Column<T>[] {
  if (chosen !== undefined) return chosen.map((path) => columnFor(view, path));
  const present = leafPaths(value);
  const has = new Set(present);
  const paths = new Set([...view.fields.filter((field) => has.has(field)), ...present]);
  return [...paths].map((path) => columnFor(view, path)).filter(({ repeats }) => repeats?.(value) !== true);
}

/** Draws an aligned line for each value. One that does not fit goes below its label; only an id is not broken. */
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
    const pieces = cell.kind === 'id' ? [cell.text] : ruler.wrap(cell.text, Math.max(2, width - GAP));
    return [label, ...pieces.map((piece) => ' '.repeat(GAP) + paint(piece.trimEnd(), cell.tone, palette))];
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Draws a `label: value` line for each present value, for a screen reader. */
function drawPlain(labels: readonly string[], cells: readonly Cell[], _width: number, { palette }: Pen): string {
  const lines = cells.flatMap(({ text, tone }, at) =>
    text === NOTHING ? [] : [`${paint(`${labels[at] ?? ''}:`, 'strong', palette)} ${paint(text, tone, palette)}`],
  );
  return `${lines.join('\n') || '(empty)'}\n`;
}
