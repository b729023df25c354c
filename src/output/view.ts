import type { TimeStyle } from '../config/choices.ts';

/** What a colour stands for. It never stands alone: the text says the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'alarm' | 'quiet' | 'strong' | 'accent';

/** How a tone is painted on one stream. */
export type Palette = Readonly<Record<Tone, (text: string) => string>>;

/** No colour at all. */
export const plainPalette: Palette = {
  good: same,
  warn: same,
  bad: same,
  alarm: same,
  quiet: same,
  strong: same,
  accent: same,
};

/** What stands before a status that is good or bad. One column and a space wide. */
export const MARKS = { good: '✓ ', bad: '✗ ' } as const;

/** How a column treats its values: identifiers are never cut, times and numbers are formatted, text may shrink. */
export type ColumnType = 'id' | 'text' | 'time' | 'number' | 'status';

/** One column of a table. */
export interface Column<T = unknown> {
  /** Dotted path of the value. */
  readonly path: string;
  /** What people read for the path, in lower case; it follows from the path where none is given. */
  readonly header?: string | undefined;
  readonly kind: ColumnType;
  /** On a narrow terminal the column with the lowest priority goes first; a column without one stays. */
  readonly priority?: number | undefined;
  /** Text is not cut below this many columns, rather another column drops; 10 where nothing is given. */
  readonly least?: number | undefined;
  /** Whether the value of a row only repeats its other columns: it is left out, and so is a column of nothing else. */
  readonly repeats?: ((row: T) => boolean) | undefined;
  /** The tone of a value; times and identifiers are dim unless it says otherwise. */
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

/** What people read in place of a field name: `created_at` is `created`. Only machine formats show the names themselves. */
export function labelOf({ header, path }: Pick<Column, 'header' | 'path'>): string {
  return header ?? path.replace(/(?<=[a-z])_(?:at|date)$/, '').replaceAll(/[._]/g, ' ');
}

function kindByName(path: string): ColumnType {
  if (/(?:^|[._])(?:id|by|token|next)$/.test(path)) return 'id';
  if (/_(?:at|date)$/.test(path)) return 'time';
  if (/(?:^|[._])status$/.test(path)) return 'status';
  return /(?:^|[._])count$/.test(path) ? 'number' : 'text';
}

function same(text: string): string {
  return text;
}

/** What a renderer must know beside the format. */
export interface RenderOptions<T> {
  readonly view: View<T>;
  /** The user's `--fields` list; without it a table shows the view's columns, other formats everything. */
  readonly fields?: string | undefined;
  /** How a table shows times. Default `utc`. */
  readonly time?: TimeStyle | undefined;
  /** Milliseconds since the epoch, for relative times. */
  readonly now?: (() => number) | undefined;
  /** Columns of the terminal; absent in a pipe, where nothing is cut. */
  readonly width?: number | undefined;
  /** Whether a table is a `name: value` line for each value, to be read out. Default false. */
  readonly plain?: boolean | undefined;
  /** Whether a status that is good or bad gets ✓ or ✗. Default false. */
  readonly marks?: boolean | undefined;
  /** Colours of a table. Default none. */
  readonly palette?: Palette | undefined;
  /** Whether secret addresses are shown. Default false. */
  readonly showUrls?: boolean | undefined;
  /** Whether CSV is for a spreadsheet, which would run some texts as formulas. Default false. */
  readonly excelSafe?: boolean | undefined;
  /** Removes secrets from a table's cells. What is cut or wrapped cannot be recognised any more when it is written. */
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * Turns values into the text of one format. For a list: `begin`, `rows` for each batch, `end`, written in
 * this order. For one object: `record` alone. Writing is left to the caller.
 */
export interface Renderer<T> {
  begin(): string;
  /** Asynchronous because what measures wide characters is loaded only when some are met. */
  rows(batch: readonly T[]): Promise<string>;
  /** `cut`: the list broke off, and the text has only to be one that can be parsed. */
  end(cut?: boolean): string | Promise<string>;
  record(value: T): Promise<string>;
  /** Paths of table columns that did not fit the terminal, known after the first rows. */
  readonly dropped: readonly string[];
}
