// Views: how each type of object is shown, whatever the output format.

import { SvcError } from '../../base/errors.ts';
import { exactValue, JsonToken } from '../../base/json/exact.ts';
import { didYouMean, sentences, typedWord } from '../../base/security/typed-word.ts';
import { isObject as isPlainObject } from '../../schema/json-value.ts';
import type { TimeStyle } from '../config/values.ts';

/** The meaning of a color. Color never says more than the text. */
export type Tone = 'good' | 'warn' | 'bad' | 'alarm' | 'quiet' | 'strong' | 'accent';

/** The functions that paint each tone on a stream. */
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

/** Paints a text in a tone. */
export function paint(text: string, tone: Tone | undefined, palette: Palette): string {
  return tone === undefined ? text : palette[tone](text);
}

/** The marks before a good or bad status, two columns wide. */
export const MARKS = { good: '✓ ', bad: '✗ ' } as const;

/** How a column treats its values: identifiers are never cut, times and numbers are formatted, text may shrink. */
export type ColumnType = 'id' | 'text' | 'time' | 'number' | 'status';

/** One column of a table. */
export interface Column<T = unknown> {
  /** Dotted path of the value. */
  readonly path: string;
  /** The label for people, in lower case. Default: derived from the path. */
  readonly header?: string | undefined;
  readonly kind: ColumnType;
  /** On a narrow terminal, the column with the lowest priority is dropped first. A column without a priority stays. */
  readonly priority?: number | undefined;
  /**
   * The width below which text is not cut; another column is dropped instead. Default: 10. On a wide terminal, the column has
   * at least this width from the first row.
   */
  readonly minWidth?: number | undefined;
  /** Whether a value only repeats other columns of its row. Such a value is left out, and a column of only such values too. */
  readonly repeats?: ((row: T) => boolean) | undefined;
  /** Returns what a table shows instead of a value. */
  readonly show?: ((value: unknown, row: T) => unknown) | undefined;
  /** Returns the tone of a value. Default: times and identifiers are dim. */
  readonly paint?: ((value: unknown, row: T) => Tone | undefined) | undefined;
}

/** How a type of object is shown, in every format. */
export interface View<T = unknown> {
  /** Singular noun for messages: "log entry", "job". */
  readonly name: string;
  /** All known dotted paths, in a sensible order. `settings.*` means any key of `settings`, `*` means any path. */
  readonly fields: readonly string[];
  /** The columns of a table without `--fields`. */
  readonly columns: readonly Column<T>[];
  /** Paths whose values are shown as `(hidden)`, in every format, unless `showUrls` is set. */
  readonly secret?: readonly string[] | undefined;
}

/** Splits a text of dotted paths at white space. */
export function fieldPaths(words: string): readonly string[] {
  return words.trim().split(/\s+/);
}

/** Returns columns that have only a path and a kind. */
export function simpleColumns(kinds: Readonly<Record<string, ColumnType>>): Pick<Column, 'path' | 'kind'>[] {
  return Object.entries(kinds).map(([path, kind]) => ({ path, kind }));
}

/** Returns the column for a path: the view's column, else a column whose kind follows from the name's ending. */
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

/** Returns the `show` function of a status column, which marks a status that this version does not know. */
export function statusAmong(known: readonly string[]): (status: unknown) => unknown {
  return (status) => (typeof status !== 'string' || known.includes(status) ? status : `unknown (${status})`);
}

/** Returns a value unchanged. */
export function same<T>(value: T): T {
  return value;
}

/** The options of a renderer. */
export interface RenderOptions<T> {
  readonly view: View<T>;
  /** The `--fields` list. Without it, a table shows the view's columns, other formats show everything. */
  readonly fields?: string | undefined;
  /** How a table shows times. Default `utc`. */
  readonly time?: TimeStyle | undefined;
  /** Milliseconds since the epoch, for relative times. */
  readonly now?: (() => number) | undefined;
  /** The width of the terminal; undefined in a pipe, where nothing is cut. */
  readonly width?: number | undefined;
  /** Whether a table has a `name: value` line for each value, for a screen reader. Default false. */
  readonly plain?: boolean | undefined;
  /** Whether a good or bad status gets ✓ or ✗. Default false. */
  readonly marks?: boolean | undefined;
  /** Colors of a table. Default none. */
  readonly palette?: Palette | undefined;
  /** Whether secret addresses are shown. Default false. */
  readonly showUrls?: boolean | undefined;
  /** Whether CSV is for a spreadsheet, which would run some texts as formulas. Default false. */
  readonly excelSafe?: boolean | undefined;
  /** Whether a CI runner reads the output and would run commands in it. Default false. */
  readonly runnerReads?: boolean | undefined;
  /** Called at the end of a list with the paths that have no column, if there are any. */
  readonly onLeftOut?: ((paths: readonly string[]) => void) | undefined;
  /** Removes secrets from each cell of a table or of CSV, before it is cut, wrapped or quoted. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Turns values into text. A list takes `begin`, `rows` for each batch, and `end`; a single object takes `record`. */
export interface Renderer<T> {
  begin?(): string;
  rows(batch: readonly T[]): string | Promise<string>;
  /** Returns the end of a list. `cut` means that the list is incomplete. */
  end?(cut?: boolean): string | Promise<string>;
  record(value: T): string | Promise<string>;
  /** Whether the renderer removes secrets from each cell. Default false: the output removes secrets from each text. */
  readonly isRedacted?: boolean | undefined;
}

/**
 * Returns the paths of a `--fields` list, in order and without duplicates; undefined without a list. Accepts known paths, their
 * parents (`settings`), keys below a `.*`, and any path marked with +.
 * @throws SvcError `usage` for any other path
 */
export function chooseFields<T>(view: View<T>, list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const paths = list.split(',').map((path) => path.trim());
  const unknown = paths.find((path) => !isMarked(path) && !isKnown(view, path));
  if (unknown !== undefined) throw unknownField(view, unknown);
  return [...new Set(paths.map((path) => (isMarked(path) ? path.slice(1) : path)))];
}

/** Returns the function that reduces a row to the chosen fields, with secrets hidden. */
export function projection<T>(view: View<T>, paths: readonly string[] | undefined, showUrls: boolean) {
  const hidden = showUrls ? [] : (view.secret ?? []);
  return (row: T): unknown => {
    const exact = exactValue(row);
    const shown = hidden.length === 0 ? exact : replaceAt(exact, hidden, '(hidden)');
    return paths === undefined ? shown : pickPaths(shown, paths);
  };
}

/**
 * Returns the function that removes secrets from the values of a member. Hides the whole value if the name means a secret,
 * such as `authorization`.
 */
export function memberRedactor(name: string, redact: (text: string) => string): (text: string) => string {
  const head = `${name}: `;
  const shown = redact(`${head}x`);
  if (!shown.startsWith(head) || shown === `${head}x`) return redact;
  return (text) => (text === '' ? text : shown.slice(head.length));
}

/** Whether a path is marked with + as one that svc need not know: `+new_member`. */
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

/** Whether a value is an object with named members: not null, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isPlainObject(value) && !(value instanceof JsonToken);
}

/** Returns the value at a dotted path; undefined if the path does not exist. A name may contain dots itself. */
export function valueAt(row: unknown, path: string): unknown {
  return membersAt(row, path)?.reduce((value, name) => (isObject(value) ? value[name] : undefined), row);
}

/** Returns the names of the members that lead to the value at a dotted path; undefined if there is none. */
function membersAt(row: unknown, path: string): readonly string[] | undefined {
  if (!isObject(row)) return undefined;
  if (Object.hasOwn(row, path)) return row[path] === undefined ? undefined : [path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    const inner = Object.hasOwn(row, name) ? membersAt(row[name], path.slice(dot + 1)) : undefined;
    if (inner !== undefined) return [name, ...inner];
  }
  return undefined;
}

/** Copies only the given paths of a row, nested as before, with members in the order of the paths. */
export function pickPaths(row: unknown, paths: readonly string[]): Record<string, unknown> {
  const picked = emptyObject();
  for (const path of paths) {
    const names = membersAt(row, path) ?? [];
    let target = picked;
    for (const name of names.slice(0, -1)) {
      const present = target[name];
      target = target[name] = Object.assign(emptyObject(), isObject(present) ? present : {});
    }
    for (const name of names.slice(-1)) target[name] = valueAt(row, path);
  }
  return picked;
}

/** Returns a copy of a row with the existing values at these paths replaced, also within the items of lists. */
export function replaceAt(row: unknown, paths: readonly string[], replacement: string): unknown {
  return paths.reduce((result, path) => replaceOne(result, path.split('.'), replacement), row);
}

/** Returns the dotted paths of all values of a row that are not objects. An empty object counts as a value. */
export function leafPaths(row: unknown, prefix = ''): string[] {
  if (!isObject(row)) return prefix === '' ? [] : [prefix];
  const keys = Object.keys(row);
  if (keys.length === 0) return prefix === '' ? [] : [prefix];
  return keys.flatMap((key) => leafPaths(row[key], prefix === '' ? key : `${prefix}.${key}`));
}

// Without a prototype, `__proto__` is an ordinary key.
function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function replaceOne(value: unknown, keys: readonly string[], replacement: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value === undefined || value === null ? value : replacement;
  if (Array.isArray(value)) return value.map((item: unknown) => replaceOne(item, keys, replacement));
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.assign(emptyObject(), value, { [key]: replaceOne(value[key], rest, replacement) });
}
