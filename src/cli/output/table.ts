import * as grid from './grid.ts';
import { asciiWidth } from './text.ts';
import {
  chooseFields,
  type Column,
  columnFor,
  labelOf,
  paint,
  type Palette,
  plainPalette,
  type Renderer,
  type RenderOptions,
  same,
} from './view.ts';

// The time that cli-table3 takes for a table grows with the square of its rows.
const ROWS_AT_ONCE = 100;

/**
 * A table in pages: two spaces between columns, no borders, no spaces at a line's end. On a terminal the first page
 * settles the columns: text shrinks first, then columns of low priority drop, and when even that does not fit each
 * row becomes a block of `label: value` lines, as each does where the table is to be plain. Elsewhere nothing is cut.
 */
export function tableRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width = Infinity, palette = plainPalette, plain = false, redact = same } = options;
  const chosen = chooseFields(view, options.fields);
  const columns = chosen?.map((path) => columnFor(view, path)) ?? view.columns;
  const labels = columns.map((column) => redact(labelOf(column)));
  const plan = new ColumnPlan(columns, width, chosen === undefined);
  let count = 0;

  return {
    isRedacted: options.redact !== undefined,
    record: (value) => grid.drawRecord(value, chosen, options),
    rows: async (batch) => {
      if (batch.length === 0) return '';
      const { lines, ruler } = await grid.measureCells(batch, columns, options);
      const begun = count > 0;
      if (!begun && chosen === undefined) plan.leaveOut(repeating(columns, batch));
      const page = begun ? lines : [headerOf(columns, labels), ...lines];
      const widths = plain ? undefined : plan.widthsFor(page);
      count += batch.length;
      if (widths === undefined) {
        const style = { ruler, palette, isAligned: false };
        const blocks = lines.map((line) =>
          plain ? grid.drawPlain(labels, line, palette) : grid.drawFields(labels, line, width, style),
        );
        return (begun ? '\n' : '') + blocks.join('\n');
      }
      const shown = page.map((line) => plan.shown.flatMap((at) => line[at] ?? []));
      return drawPage({ lines: shown, ruler }, widths, palette, width < Infinity);
    },
  };
}

// Columns that only repeat others on this page.
function repeating<T>(columns: readonly Column<T>[], batch: readonly T[]): number[] {
  return columns.flatMap(({ repeats }, at) => (repeats !== undefined && batch.every(repeats) ? [at] : []));
}

// A heading over identifiers or times is as wide as it is; over text it may shrink, over numbers it moves right.
function headerOf<T>(columns: readonly Column<T>[], labels: readonly string[]): grid.Cell[] {
  return columns.map(({ kind }, at) => {
    const text = (labels[at] ?? '').toUpperCase();
    return { text, width: text.length, kind, tone: 'strong' };
  });
}

/**
 * Draws with cli-table3 on a terminal, in tables of a hundred rows with the same widths. A pipe gets plain rows, which are
 * much faster, and so does text that is not ASCII: cli-table3 measures emoji and combining marks by rules of its
 * own, and would cut an identifier.
 */
async function drawPage(
  { lines, ruler }: grid.Measured,
  widths: readonly number[],
  palette: Palette,
  onTerminal: boolean,
) {
  const style: grid.CellStyle = { ruler, palette };
  if (!onTerminal || ruler !== asciiWidth) return lines.map((line) => grid.drawRow(line, widths, style)).join('');
  const { default: Table } = await import('cli-table3');
  let text = '';
  for (let first = 0; first < lines.length; first += ROWS_AT_ONCE) {
    const table = new Table({
      chars: NO_BORDERS,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
      colWidths: [...widths],
      colAligns: (lines[0] ?? []).map(({ kind }) => (kind === 'number' ? 'right' : 'left')),
    });
    for (const line of lines.slice(first, first + ROWS_AT_ONCE))
      table.push(line.map(({ text: cell, tone }) => paint(cell, tone, palette)));
    text += `${table.toString().replaceAll(/ +$/gm, '')}\n`;
  }
  return text;
}

const BORDERS = ['top', 'bottom', 'left', 'mid', 'right'].flatMap((name) =>
  ['', '-mid', '-left', '-right'].map((end) => [name + end, '']),
);
const NO_BORDERS: object = { ...Object.fromEntries(BORDERS), middle: '  ' };

// Text is not squeezed below this many columns, unless its column says otherwise; rather a column drops.
const LEAST_TEXT = 10;

/** Decides which columns of a table are shown and how wide; the first page settles which. */
class ColumnPlan<T> {
  readonly #columns: readonly Column<T>[];
  readonly #width: number;
  readonly #mayDrop: boolean;
  /** The widest text of each column so far. */
  #naturals: readonly number[] = [];
  #all: readonly number[];
  #shown: readonly number[];
  #settled = false;
  #squeezed = false;
  #fits = true;

  /** `width` is the terminal's, Infinity in a pipe. `mayDrop` is false for columns that the user chose. */
  constructor(columns: readonly Column<T>[], width: number, mayDrop: boolean) {
    this.#columns = columns;
    this.#width = width;
    this.#mayDrop = mayDrop;
    this.#all = columns.map((_, at) => at);
    this.#shown = this.#all;
  }

  get shown(): readonly number[] {
    return this.#shown;
  }

  /** Leaves out columns that only repeat others on the first page. */
  leaveOut(positions: readonly number[]): void {
    this.#all = this.#all.filter((at) => !positions.includes(at));
    this.#shown = this.#all;
  }

  /** Takes further lines in and gives the widths of the shown columns; undefined once they cannot fit. */
  widthsFor(lines: readonly (readonly grid.Cell[])[]): readonly number[] | undefined {
    if (!this.#fits) return undefined;
    this.#naturals = this.#columns.map((_, at) =>
      lines.reduce((most, line) => Math.max(most, line[at]?.width ?? 0), this.#naturals[at] ?? 0),
    );
    const widths = this.#settled ? this.#fit(this.#shown) : this.#settle();
    if (widths !== undefined) this.#reserve(widths);
    this.#fits = widths !== undefined;
    return widths && this.#fit(this.#shown);
  }

  /** Widens columns to what they ask for, as far as a terminal has room, so that later rows do not move the columns after them. */
  #reserve(widths: readonly number[]): void {
    if (this.#width === Infinity || this.#squeezed) return;
    let spare = this.#width - grid.widthOf(widths);
    for (const at of this.#shown) {
      const natural = this.#naturals[at] ?? 0;
      const more = Math.max(0, Math.min(spare, (this.#columns[at]?.least ?? 0) - natural));
      spare -= more;
      this.#naturals = this.#naturals.with(at, natural + more);
    }
  }

  #settle(): readonly number[] | undefined {
    this.#settled = true;
    for (let shown = this.#all; ; shown = this.#shown) {
      const widths = this.#fit(shown);
      if (widths !== undefined) return widths;
      const least = this.#mayDrop ? this.#leastWanted(shown) : undefined;
      if (least === undefined) return this.#squeeze();
      this.#shown = shown.filter((at) => at !== least);
    }
  }

  // When no other column can drop, text gives way below what its column asked for, and then a row is no line any more.
  #squeeze(): readonly number[] | undefined {
    this.#squeezed = true;
    const widths = this.#fit(this.#shown);
    if (widths === undefined) this.#shown = this.#all;
    return widths;
  }

  #fit(shown: readonly number[]): number[] | undefined {
    const tracks = shown.map((at): grid.ColumnConstraint => {
      const natural = this.#naturals[at] ?? 0;
      const { kind, least: ownLeast = LEAST_TEXT } = this.#columns[at] ?? {};
      const least = this.#squeezed ? LEAST_TEXT : ownLeast;
      return { natural, least: kind === 'text' ? Math.min(natural, least) : natural };
    });
    return grid.fitWidths(tracks, this.#width);
  }

  #leastWanted(shown: readonly number[]): number | undefined {
    const priorityOf = (at: number): number => this.#columns[at]?.priority ?? Infinity;
    const [least] = shown.filter((at) => priorityOf(at) < Infinity).toSorted((a, b) => priorityOf(a) - priorityOf(b));
    return least;
  }
}
