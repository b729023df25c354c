import { JsonToken } from '../exact-json.ts';

/** Whether `value` is an object with named members, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonToken)
  );
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
    if (value !== undefined) place(picked, path.split('.'), value);
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

function place(target: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = emptyObject();
  const present = target[key];
  if (isObject(present)) Object.assign(inner, present);
  place(inner, rest, value);
  target[key] = inner;
}

function replaceOne(value: unknown, keys: readonly string[], replacement: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value === undefined || value === null ? value : replacement;
  if (Array.isArray(value)) return value.map((item: unknown) => replaceOne(item, keys, replacement));
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.assign(emptyObject(), value, { [key]: replaceOne(value[key], rest, replacement) });
}
