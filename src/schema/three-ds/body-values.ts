// Finds the values in the body of an authenticate request.

/** A text in a request body, and where it stands. */
export interface TextAt {
  /** The path to the text: names of members and numbers of items. */
  readonly parts: readonly string[];
  readonly text: string;
  /** Whether the text is the name of the member itself. */
  readonly isName: boolean;
}

/** Returns the value at a path, from own members and items only; undefined for a path without a value. */
export function ownValue(value: unknown, parts: readonly string[]): unknown {
  let found = value;
  for (const part of parts) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

/** Yields all texts, numbers (as written) and names of members in a value. */
export function* textsIn(value: unknown, parts: readonly string[] = []): Generator<TextAt> {
  if (typeof value === 'string' || typeof value === 'number') yield { parts, text: String(value), isName: false };
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = [...parts, name];
    if (!Array.isArray(value)) yield { parts: at, text: name, isName: true };
    yield* textsIn(member, at);
  }
}
