import { chooseFields } from './fields.ts';
import {
  type Cell,
  type CellStyle,
  type ColumnConstraint,
  drawBlock,
  drawRecord,
  drawRow,
  fitWidths,
  measureCells,
} from './grid.ts';
import {
  type Column,
  columnFor,
  type ColumnType,
  plainPalette,
  type Renderer,
  type RenderOptions,
} from './view.ts';

/**
 * A streaming table: two spaces between columns, no borders, no spaces at a line's end. On a terminal text
 * shrinks first, then columns of low priority drop, and when even that does not fit each row becomes a block of
 * `field: value` lines, as each does where the table is to be plain. Elsewhere nothing is cut.
 */
export function tableRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width = Infinity, palette = plainPalette, plain = false } = options;
  const chosen = chooseFields(view, options.fields);
  const columns = chosen?.map((path) => columnFor(view, path)) ?? view.columns;
  const names = columns.map(({ header, path }) => header ?? path);
  const plan = new ColumnPlan(columns, width, chosen === undefined);
  let begun = false;

  return {
    begin: () => '',
    end: () => '',
    record: (value) => drawRecord(value, chosen, options),
    rows: async (batch) => {
      if (batch.length === 0) return '';
      const { lines, ruler } = await measureCells(batch, columns, options);
      const pen: CellStyle = { ruler, palette };
      const header = headerOf(columns, names);
      const widths = plain ? undefined : plan.widthsFor(begun ? lines : [header, ...lines]);
      const first = !begun;
      begun = true;
      if (widths === undefined) {
        const room = plain ? Infinity : width;
        const blocks = lines.map((line) => drawBlock(names, line, room, pen));
        return (first ? '' : '\n') + blocks.join('\n');
      }
      const drawn = (first ? [header, ...lines] : lines).map((line) =>
        drawRow(
          plan.shown.flatMap((at) => line[at] ?? []),
          widths,
          pen,
        ),
      );
      return drawn.join('');
    },
    get dropped() {
      return columns.filter((_, at) => !plan.shown.includes(at)).map(({ path }) => path);
    },
  };
}

// A heading over identifiers or times is as wide as it is; over text it may shrink, over numbers it moves right.
function headerOf<T>(columns: readonly Column<T>[], names: readonly string[]): Cell[] {
  return columns.map(({ kind }, at) => {
    const text = names[at] ?? '';
    return { text, width: text.length, kind, tone: 'strong' };
  });
}

// Text is not squeezed below this many columns, unless its column says otherwise; rather a column drops.
const LEAST_TEXT = 10;

/** What decides a column's width and whether it stays. */
export interface Planned {
  readonly kind: ColumnType;
  readonly priority?: number | undefined;
  readonly least?: number | undefined;
}

/** Decides which columns of a streaming table are shown and how wide; the first lines settle which. */
class ColumnPlan {
  readonly #columns: readonly Planned[];
  readonly #width: number;
  readonly #mayDrop: boolean;
  /** The widest text of each column so far. */
  #naturals: readonly number[] = [];
  #shown: readonly number[];
  #settled = false;
  #squeezed = false;
  #fits = true;

  /** `width` is the terminal's, Infinity in a pipe. `mayDrop` is false for columns that the user chose. */
  constructor(columns: readonly Planned[], width: number, mayDrop: boolean) {
    this.#columns = columns;
    this.#width = width;
    this.#mayDrop = mayDrop;
    this.#shown = columns.map((_, at) => at);
  }

  /** Positions of the columns that are shown. */
  get shown(): readonly number[] {
    return this.#shown;
  }

  /** Takes further lines in and gives the widths of the shown columns; undefined once they cannot fit. */
  widthsFor(lines: readonly (readonly Cell[])[]): readonly number[] | undefined {
    if (!this.#fits) return undefined;
    this.#naturals = this.#columns.map((_, at) =>
      lines.reduce((most, line) => Math.max(most, line[at]?.width ?? 0), this.#naturals[at] ?? 0),
    );
    const widths = this.#settled ? this.#fit(this.#shown) : this.#settle();
    this.#fits = widths !== undefined;
    return widths;
  }

  #settle(): readonly number[] | undefined {
    this.#settled = true;
    const all = this.#shown;
    for (let shown = all; ; shown = this.#shown) {
      const widths = this.#fit(shown);
      if (widths !== undefined) return widths;
      const least = this.#mayDrop ? this.#leastWanted(shown) : undefined;
      if (least === undefined) return this.#squeeze(all);
      this.#shown = shown.filter((at) => at !== least);
    }
  }

  // When no other column can drop, text gives way below what its column asked for, and then a row is no line any more.
  #squeeze(all: readonly number[]): readonly number[] | undefined {
    this.#squeezed = true;
    const widths = this.#fit(this.#shown);
    if (widths === undefined) this.#shown = all;
    return widths;
  }

  #fit(shown: readonly number[]): number[] | undefined {
    const tracks = shown.map((at): ColumnConstraint => {
      const natural = this.#naturals[at] ?? 0;
      const { kind, least: asked = LEAST_TEXT } = this.#columns[at] ?? {};
      const least = this.#squeezed ? LEAST_TEXT : asked;
      return { natural, least: kind === 'text' ? Math.min(natural, least) : natural };
    });
    return fitWidths(tracks, this.#width);
  }

  #leastWanted(shown: readonly number[]): number | undefined {
    let least: number | undefined;
    for (const at of shown) if (this.#priority(at) < this.#priority(least)) least = at;
    return least;
  }

  #priority(at: number | undefined): number {
    return (at === undefined ? undefined : this.#columns[at]?.priority) ?? Infinity;
  }
}
