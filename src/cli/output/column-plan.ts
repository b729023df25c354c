import type { Cell } from './cells.ts';
import type { Column } from './view.ts';

/** Width of the space between two columns of a table. */
export const GAP = 2;

// Text is not cut below this many columns, unless its column says otherwise; rather a column drops.
const LEAST_TEXT = 10;

/** Decides which columns of a table are shown and how wide. The first page settles which. */
export class ColumnPlan<T> {
  readonly #columns: readonly Column<T>[];
  readonly #width: number;
  /** The widest text of each column so far. */
  readonly #naturals: number[];
  #mayDrop: boolean;
  #shown: readonly number[];
  #fits = true;

  /** `width` is the terminal's, Infinity in a pipe. `mayDrop` is false for columns that the user chose. */
  constructor(columns: readonly Column<T>[], width: number, mayDrop: boolean) {
    this.#columns = columns;
    this.#width = width;
    this.#naturals = columns.map(() => 0);
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

  /** Takes further rows in and gives the widths of the shown columns; undefined once they cannot fit. */
  widthsFor(rows: readonly (readonly Cell[])[]): readonly number[] | undefined {
    for (const row of rows)
      for (const [at, { width }] of row.entries()) this.#naturals[at] = Math.max(this.#naturals[at] ?? 0, width);
    let widths = this.#fit();
    while (widths === undefined && this.#mayDrop) {
      const least = this.#leastWanted();
      if (least === undefined) break;
      this.#shown = this.#shown.filter((at) => at !== least);
      widths = this.#fit();
    }
    this.#mayDrop = false;
    this.#fits &&= widths !== undefined;
    return this.#fits && widths !== undefined ? this.#reserve(widths) : undefined;
  }

  /** Returns the width of each shown column. The widest texts shrink first, to a common width. */
  #fit(): number[] | undefined {
    const leasts = this.#shown.map((at) => {
      const { kind, least = LEAST_TEXT } = this.#columns[at] ?? {};
      return Math.min(this.#naturals[at] ?? 0, kind === 'text' ? least : Infinity);
    });
    if (rowWidth(leasts) > this.#width) return undefined;
    const widths = this.#shown.map((at) => Math.min(this.#naturals[at] ?? 0, this.#width));
    for (let over = rowWidth(widths) - this.#width; over > 0; over -= 1) {
      const most = Math.max(...widths.filter((width, at) => width > (leasts[at] ?? 0)));
      const widest = widths.findLastIndex((width, at) => width === most && width > (leasts[at] ?? 0));
      widths[widest] = most - 1;
    }
    return widths;
  }

  /** Widens columns to what they ask for, as far as a terminal has room, so that later rows do not move the columns after them. */
  #reserve(widths: readonly number[]): readonly number[] {
    if (this.#width === Infinity) return widths;
    let spare = this.#width - rowWidth(widths);
    return widths.map((width, index) => {
      const at = this.#shown[index] ?? index;
      const more = Math.max(0, Math.min(spare, (this.#columns[at]?.least ?? 0) - width));
      spare -= more;
      if (more > 0) this.#naturals[at] = width + more;
      return width + more;
    });
  }

  #leastWanted(): number | undefined {
    const priorityOf = (at: number): number => this.#columns[at]?.priority ?? Infinity;
    const [least] = this.#shown
      .filter((at) => priorityOf(at) < Infinity)
      .toSorted((a, b) => priorityOf(a) - priorityOf(b));
    return least;
  }
}

function rowWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1));
}
