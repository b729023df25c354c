import type { Cell } from './grid.ts';
import { fitWidths, type Track } from './layout.ts';
import type { ColumnKind } from './view.ts';

// Text is not squeezed below this many columns, unless its column says otherwise; rather a column drops.
const LEAST_TEXT = 10;

/** What decides a column's width and whether it stays. */
export interface Planned {
  readonly kind: ColumnKind;
  readonly priority?: number | undefined;
  readonly least?: number | undefined;
}

/** Decides which columns of a streaming table are shown and how wide; the first lines settle which. */
export class ColumnPlan {
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
    const tracks = shown.map((at): Track => {
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
