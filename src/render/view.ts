/** What a colour stands for. It never stands alone: the text says the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'strong' | 'accent';

/** How a tone is painted on one stream. */
export type Palette = Readonly<Record<Tone, (text: string) => string>>;

/** No colour at all. */
export const plainPalette: Palette = {
  good: same,
  warn: same,
  bad: same,
  quiet: same,
  strong: same,
  accent: same,
};

/** How a column treats its values: identifiers are never cut, times and numbers are formatted, text may shrink. */
export type ColumnKind = 'id' | 'text' | 'time' | 'number' | 'status';

/** One column of a table. */
export interface Column<T = unknown> {
  /** Dotted path of the value. */
  readonly path: string;
  /** Heading; the path where none is given. */
  readonly header?: string | undefined;
  readonly kind: ColumnKind;
  /** On a narrow terminal the column with the lowest priority goes first; a column without one stays. */
  readonly priority?: number | undefined;
  /** Text is not cut below this many columns, rather another column drops; 10 where nothing is given. */
  readonly least?: number | undefined;
  /** The tone of a value, where it has one. */
  readonly paint?: ((value: unknown, row: T) => Tone | undefined) | undefined;
}

/** How one kind of object is shown, in every format. */
export interface View<T = unknown> {
  /** Singular noun for messages: "log entry", "job". */
  readonly name: string;
  /** Every known dotted path, in a sensible order. `settings.*` stands for any key of `settings`, `*` for any path. */
  readonly fields: readonly string[];
  /** The columns of a table for which no fields were chosen. */
  readonly columns: readonly Column<T>[];
  /** Paths whose values are shown as `(hidden)`, in every format, unless addresses are asked for. */
  readonly secret?: readonly string[] | undefined;
}

/** The column for a path: the view's own, else one whose kind follows from the name's ending. */
export function columnFor<T>(view: View<T>, path: string): Column<T> {
  return view.columns.find((column) => column.path === path) ?? { path, kind: kindByName(path) };
}

function kindByName(path: string): ColumnKind {
  if (/(?:^|[._])(?:id|by|token|next)$/.test(path)) return 'id';
  if (/_(?:at|date)$/.test(path)) return 'time';
  if (/(?:^|[._])status$/.test(path)) return 'status';
  return /(?:^|[._])count$/.test(path) ? 'number' : 'text';
}

function same(text: string): string {
  return text;
}
