import { SvcError } from '../../base/errors.ts';
import { exactValue, JsonToken } from '../../base/json/exact.ts';
import { didYouMean, sentences, typedWord } from '../../base/security/typed-word.ts';
import { isObject as isPlainObject } from '../../schema/json-value.ts';
import type { TimeStyle } from '../config/values.ts';

/** The meaning of a color, which the text has too. */
export type Tone = 'good' | 'warn' | 'bad' | 'alarm' | 'quiet' | 'strong' | 'accent';

/** How a tone is painted on one stream. */
export type Palette = Readonly<Record<Tone, (text: string) => string>>;

export const plainPalette: Palette = {
  good: same,
  warn: same,
  bad: same,
  alarm: same,
  quiet: same,
  strong: same,
  accent: same,
};

/** `text` in its tone. */
export function paint(text: string, tone: Tone | undefined, palette: Palette): string {
  return tone === undefined ? text : palette[tone](text);
}

/** The mark before a status that is good or bad. One column and a space wide. */
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
  /** On a narrow terminal, columns are dropped from the lowest priority up; a column without one stays. */
  readonly priority?: number | undefined;
  /**
   * The least width to which text is cut, before another column is dropped. Default: 10. On a terminal with room, the
   * column has at least this width from the first row on.
   */
  readonly least?: number | undefined;
  /** Whether the value of a row only repeats its other columns: it is left out, and so is a column of nothing else. */
  readonly repeats?: ((row: T) => boolean) | undefined;
  /** What a table shows in place of a value. */
  readonly show?: ((value: unknown, row: T) => unknown) | undefined;
  /** The tone of a value; times and identifiers are dim unless it says otherwise. */
  readonly paint?: ((value: unknown, row: T) => Tone | undefined) | undefined;
}

/** How one type of object is shown, in every format. */
export interface View<T = unknown> {
  /** Singular noun for messages: "log entry", "job". */
  readonly name: string;
  /** Every known dotted path, in a sensible order. `settings.*` stands for any key of `settings`, `*` for any path. */
  readonly fields: readonly string[];
  /** The columns of a table for which no fields were chosen. */
  readonly columns: readonly Column<T>[];
  /** Paths whose values are shown as `(hidden)`, in every format, unless `showUrls` is set. */
  readonly secret?: readonly string[] | undefined;
}

/** Dotted paths, written as words. */
export function fieldPaths(words: string): readonly string[] {
  return words.trim().split(/\s+/);
}

/** Columns that need no more than a path and a kind. */
export function simpleColumns(kinds: Readonly<Record<string, ColumnType>>): Pick<Column, 'path' | 'kind'>[] {
  return Object.entries(kinds).map(([path, kind]) => ({ path, kind }));
}

/** The column for a path: the view's own, else one whose kind follows from the name's ending. */
export function columnFor<T>(view: View<T>, path: string): Column<T> {
  return view.columns.find((column) => column.path === path) ?? { path, kind: kindByName(path) };
}

/** Returns the label of a field for people: `created_at` is `created`. Machine formats show the name itself. */
export function labelOf({ header, path }: Pick<Column, 'header' | 'path'>): string {
  if (header !== undefined) return header;
  const words = path.replace(/(?<=[a-z])_(?:at|date)$/, '').replaceAll(/[._]/g, ' ');
  // A member is often named after the object that contains it: `authentication.authentication_status`,
  // `version.available_version`.
  return words.replaceAll(/\b(\w+) \1\b/g, '$1').replace(/^(\w+) ((?:\w+ )+\1)$/, '$2');
}

function kindByName(path: string): ColumnType {
  if (/(?:^|[._])(?:id|by|token|next)$/.test(path)) return 'id';
  if (/_(?:at|date)$/.test(path)) return 'time';
  if (/(?:^|[._])status$/.test(path)) return 'status';
  return /(?:^|[._])count$/.test(path) ? 'number' : 'text';
}

/** Returns what a table shows for a status: one that this version does not know is named as such. */
export function statusAmong(known: readonly string[]): (status: unknown) => unknown {
  return (status) => (typeof status !== 'string' || known.includes(status) ? status : `unknown (${status})`);
}

/** Leaves a value as it is. */
export function same<T>(value: T): T {
  return value;
}

/** The options of a renderer. */
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
  /** Colors of a table. Default none. */
  readonly palette?: Palette | undefined;
  /** Whether secret addresses are shown. Default false. */
  readonly showUrls?: boolean | undefined;
  /** Whether CSV is for a spreadsheet, which would run some texts as formulas. Default false. */
  readonly excelSafe?: boolean | undefined;
  /** Whether the runner of a CI job reads the output and runs the commands in it. Default false. */
  readonly runnerReads?: boolean | undefined;
  /** Gets the paths for which a list has no column, once and at its end, where it left any out. */
  readonly onLeftOut?: ((paths: readonly string[]) => void) | undefined;
  /** Removes secrets from each cell of a table or of CSV, before it is cut, wrapped or quoted. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Turns values into text: of a list `begin`, `rows` for each batch, `end`; of one object `record`. Others write it. */
export interface Renderer<T> {
  begin?(): string;
  /** Asynchronous where what measures wide characters is loaded only when some are met. */
  rows(batch: readonly T[]): string | Promise<string>;
  /** `cut`: the list broke off, so the text only completes what a parser needs. */
  end?(cut?: boolean): string | Promise<string>;
  record(value: T): string | Promise<string>;
  /** Whether secrets were removed from each cell. Default false: they are removed from each line when it is written. */
  readonly isRedacted?: boolean | undefined;
}

/**
 * The paths that a `--fields` list chooses, in its order and each once; undefined without a list.
 * A known path, anything above one (`settings`), any key below a `.*`, and any path marked with + are accepted.
 * Throws `usage` for everything else.
 */
export function chooseFields<T>(view: View<T>, list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const paths = list.split(',').map((path) => path.trim());
  const unknown = paths.find((path) => !isMarked(path) && !isKnown(view, path));
  if (unknown !== undefined) throw unknownField(view, unknown);
  return [...new Set(paths.map((path) => (isMarked(path) ? path.slice(1) : path)))];
}

/** Returns the function that projects a row to the chosen fields, with secrets hidden. */
export function projection<T>(view: View<T>, paths: readonly string[] | undefined, showUrls: boolean) {
  const hidden = showUrls ? [] : (view.secret ?? []);
  return (row: T): unknown => {
    const exact = exactValue(row);
    const shown = hidden.length === 0 ? exact : replaceAt(exact, hidden, '(hidden)');
    return paths === undefined ? shown : pickPaths(shown, paths);
  };
}

/**
 * Returns the function that removes secrets from the values of a member. Where its name says that they are secret, as
 * `authorization` does, a value is hidden as a whole.
 */
export function memberRedactor(name: string, redact: (text: string) => string): (text: string) => string {
  const head = `${name}: `;
  const shown = redact(`${head}x`);
  if (!shown.startsWith(head) || shown === `${head}x`) return redact;
  return (text) => (text === '' ? text : shown.slice(head.length));
}

/** Whether a path is marked as one that the service may have and svc does not know: `+new_member`. */
function isMarked(path: string): boolean {
  return /^\+[^.]+(?:\.[^.]+)*$/.test(path);
}

function isKnown<T>({ fields }: View<T>, path: string): boolean {
  return fields.some(
    (field) =>
      field === '*' ||
      field === path ||
      field.startsWith(`${path}.`) ||
      (field.endsWith('.*') && path.startsWith(field.slice(0, -1)) && path.length > field.length - 1),
  );
}

function unknownField<T>(view: View<T>, path: string): SvcError {
  const known = `Choose from: ${view.fields.join(', ')}. Write + before one that is new: +name.`;
  return new SvcError('usage', `unknown field ${typedWord(path, view.fields)} of this ${view.name}`, {
    hint: sentences(didYouMean(path, view.fields), known),
    facts: { known_fields: view.fields },
  });
}

/** Whether `value` is an object with named members, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isPlainObject(value) && !(value instanceof JsonToken);
}

/** The value at a dotted path, or undefined where there is none. */
export function valueAt(row: unknown, path: string): unknown {
  let value = row;
  for (const key of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** `row` with only the given paths, nested as before, members in the order of the paths. Absent ones stay absent. */
export function pickPaths(row: unknown, paths: readonly string[]): Record<string, unknown> {
  const picked = emptyObject();
  for (const path of paths) {
    const value = valueAt(row, path);
    if (value !== undefined) setAt(picked, path.split('.'), value);
  }
  return picked;
}

/** `row` with the value at each path replaced where there is one; lists on the way are walked. The row itself stays. */
export function replaceAt(row: unknown, paths: readonly string[], replacement: string): unknown {
  return paths.reduce((result, path) => replaceOne(result, path.split('.'), replacement), row);
}

/** Dotted paths of all values below `row` that are not objects themselves; an empty object counts as a value. */
export function leafPaths(row: unknown, prefix = ''): string[] {
  if (!isObject(row)) return prefix === '' ? [] : [prefix];
  const keys = Object.keys(row);
  if (keys.length === 0) return prefix === '' ? [] : [prefix];
  return keys.flatMap((key) => leafPaths(row[key], prefix === '' ? key : `${prefix}.${key}`));
}

// Without a prototype, a key named __proto__ is a key like any other.
function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function setAt(target: Record<string, unknown>, [key, ...rest]: readonly string[], value: unknown): void {
  if (key === undefined) return;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const present = target[key];
  const inner = Object.assign(emptyObject(), isObject(present) ? present : {});
  setAt(inner, rest, value);
  target[key] = inner;
}

function replaceOne(value: unknown, keys: readonly string[], replacement: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value === undefined || value === null ? value : replacement;
  if (Array.isArray(value)) return value.map((item: unknown) => replaceOne(item, keys, replacement));
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.assign(emptyObject(), value, { [key]: replaceOne(value[key], rest, replacement) });
}
