import { SvcError } from '../errors.ts';
import { exactValue, JsonToken } from '../json/exact.ts';
import { nearest, typedWord } from '../security/typed-word.ts';
import type { View } from './view.ts';
import { isObject as isPlainObject } from '../schema/guards.ts';

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

/** Turns a row into what is shown of it: all that it was parsed from, secrets hidden, then the chosen fields. */
export function projection<T>(
  view: View<T>,
  paths: readonly string[] | undefined,
  showUrls: boolean,
): (row: T) => unknown {
  const hidden = showUrls ? [] : (view.secret ?? []);
  return (row) => {
    const exact = exactValue(row);
    const shown = hidden.length === 0 ? exact : replaceAt(exact, hidden, '(hidden)');
    return paths === undefined ? shown : pickPaths(shown, paths);
  };
}

/** Whether a path is marked as one that the service may have and svc does not know: `+new_member`. */
function isMarked(path: string): boolean {
  return /^\+[^.]+(?:\.[^.]+)*$/.test(path);
}

function isKnown<T>(view: View<T>, path: string): boolean {
  return view.fields.some(
    (field) =>
      field === '*' ||
      field === path ||
      field.startsWith(`${path}.`) ||
      (field.endsWith('.*') && path.startsWith(field.slice(0, -1)) && path.length > field.length - 1),
  );
}

function unknownField<T>(view: View<T>, path: string): SvcError {
  const meant = nearest(path, view.fields);
  const known = `Choose from: ${view.fields.join(', ')}. Write + before one that is new: +name.`;
  return new SvcError('usage', `unknown field ${typedWord(path, view.fields)} of this ${view.name}`, {
    hint: meant === undefined ? known : `Did you mean "${meant}"? ${known}`,
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
    if (value !== undefined) pathPosition(picked, path.split('.'), value);
  }
  return picked;
}

/** `row` with the value at each path replaced where there is one; lists on the way are walked. The row itself stays. */
export function replaceAt(row: unknown, paths: readonly string[], replacement: string): unknown {
  let result = row;
  for (const path of paths) result = replaceOne(result, path.split('.'), replacement);
  return result;
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

function pathPosition(target: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = emptyObject();
  const present = target[key];
  if (isObject(present)) Object.assign(inner, present);
  pathPosition(inner, rest, value);
  target[key] = inner;
}

function replaceOne(value: unknown, keys: readonly string[], replacement: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value === undefined || value === null ? value : replacement;
  if (Array.isArray(value)) return value.map((item: unknown) => replaceOne(item, keys, replacement));
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.assign(emptyObject(), value, { [key]: replaceOne(value[key], rest, replacement) });
}
