/** A text of a body and where it stands. */
export interface TextAt {
  /** Names of members and numbers of items. */
  readonly parts: readonly string[];
  readonly text: string;
}

/** The value at these parts of a path, looking at own members and items only; undefined where there is none. */
export function ownValue(value: unknown, parts: readonly string[]): unknown {
  let found = value;
  for (const part of parts) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

/** Every text and number in a value, numbers as they are written. */
export function textsIn(value: unknown, parts: readonly string[] = []): TextAt[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ parts, text: String(value) }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => textsIn(member, [...parts, name]));
}

/** Whether a value is an object with named members, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
