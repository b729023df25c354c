/** A text of a body and where it is. */
export interface TextAt {
  /** Names of members and numbers of items. */
  readonly parts: readonly string[];
  readonly text: string;
  /** Whether the text is the name of the member itself. */
  readonly isName: boolean;
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

/** Every text and number in a value, numbers as they are written, and every name of a member. */
export function* textsIn(value: unknown, parts: readonly string[] = []): Generator<TextAt> {
  if (typeof value === 'string' || typeof value === 'number')
    yield { parts, text: String(value), isName: false };
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = [...parts, name];
    if (!Array.isArray(value)) yield { parts: at, text: name, isName: true };
    yield* textsIn(member, at);
  }
}

/** Whether a value is an object with named members, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
