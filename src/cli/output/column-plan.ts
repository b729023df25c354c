import type { Cell } from './cells.ts';
import type { Column } from './view.ts';

/** Width of the space between two columns of a table. */
export const GAP = 2;

/** The default `minWidth` of a text column. */
const MIN_TEXT_WIDTH = 10;

/** Decides which columns of a table are shown and how wide. The first page decides which columns. */
export class ColumnPlan<T> {
  readonly #columns: readonly Column<T>[];
  readonly #width: number;
  /** The width of the widest cell of each column so far. */
  readonly #cellWidths: number[];
  #mayDrop: boolean;
  #shown: readonly number[];
  #fits = true;

  /** `width` is the width of the terminal, Infinity in a pipe. `mayDrop` is false for columns that the user chose. */
  constructor(columns: readonly Column<T>[], width: number, mayDrop: boolean) {
    this.#columns = columns;
    this.#width = width;
    this.#cellWidths = columns.map(() => 0);
    this.#mayDrop = mayDrop;
    this.#shown = columns.map((_, at) => at);
  }

  get shown(): readonly number[] {
    return this.#shown;
  }

  /** Leaves out columns that only repeat others on the first page. */
  leaveOut(positions: readonly number[]): void {
    this.#shown = this.#shown.filter((at) => !positions.includes(at));
  }

  /** Adds further rows and returns the widths of the shown columns; undefined once the columns cannot fit. */
  widthsFor(rows: readonly (readonly Cell[])[]): readonly number[] | undefined {
    for (const row of rows)
      for (const [at, { width }] of row.entries()) this.#cellWidths[at] = Math.max(this.#cellWidths[at] ?? 0, width);
    let widths = this.#fit();
    while (widths === undefined && this.#mayDrop) {
      const dropped = this.#lowestPriority();
      if (dropped === undefined) break;
      this.#shown = this.#shown.filter((at) => at !== dropped);
      widths = this.#fit();
    }
    this.#mayDrop = false;
    this.#fits &&= widths !== undefined;
    return this.#fits && widths !== undefined ? this.#reserve(widths) : undefined;
  }

  /** Returns the width of each shown column. The widest texts shrink first, to a common width. */
  #fit(): number[] | undefined {
    const minWidths = this.#shown.map((at) => {
      const { kind, minWidth = MIN_TEXT_WIDTH } = this.#columns[at] ?? {};
      return Math.min(this.#cellWidths[at] ?? 0, kind === 'text' ? minWidth : Infinity);
    });
    if (rowWidth(minWidths) > this.#width) return undefined;
    const widths = this.#shown.map((at) => Math.min(this.#cellWidths[at] ?? 0, this.#width));
    for (let over = rowWidth(widths) - this.#width; over > 0; over -= 1) {
      const max = Math.max(...widths.filter((width, at) => width > (minWidths[at] ?? 0)));
      const widest = widths.findLastIndex((width, at) => width === max && width > (minWidths[at] ?? 0));
      widths[widest] = max - 1;
    }
    return widths;
  }

  /** Widens columns to their `minWidth` while the terminal has room, so that wider cells of later rows do not move columns. */
  #reserve(widths: readonly number[]): readonly number[] {
    if (this.#width === Infinity) return widths;
    let spare = this.#width - rowWidth(widths);
    return widths.map((width, index) => {
      const at = this.#shown[index] ?? index;
      const more = Math.max(0, Math.min(spare, (this.#columns[at]?.minWidth ?? 0) - width));
      spare -= more;
      if (more > 0) this.#cellWidths[at] = width + more;
      return width + more;
    });
  }

  /** Returns the shown column with the lowest priority; undefined if no shown column has a priority. */
  #lowestPriority(): number | undefined {
    const priorityOf = (at: number): number => this.#columns[at]?.priority ?? Infinity;
    const [lowest] = this.#shown
      .filter((at) => priorityOf(at) < Infinity)
      .toSorted((a, b) => priorityOf(a) - priorityOf(b));
    return lowest;
  }
}

function rowWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1));
}
