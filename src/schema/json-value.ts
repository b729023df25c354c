/** Whether a value is an object with named members, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a value that is an object with named members; undefined for any other value. */
export function objectOrUndefined(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

/** Parses a JSON text; undefined for any other text. Loses digits of long numbers, unlike `readExact`. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Lists the members that a shape dropped because of their type, as dotted paths without the positions of items. `read` is the
 * shape's result for `sent`.
 */
export function otherTypes(read: unknown, sent: unknown): string[] {
  const paths = new Set<string>();
  addOtherTypes(paths, '', read, sent);
  return [...paths];
}

function addOtherTypes(paths: Set<string>, path: string, read: unknown, sent: unknown): void {
  if (read === sent) return;
  if (Array.isArray(sent) && Array.isArray(read)) {
    for (let at = 0; at < sent.length; at += 1)
      if (read[at] !== sent[at]) addOtherTypes(paths, path, read[at], sent[at]);
  } else if (isObject(sent) && isObject(read)) {
    const prefix = path === '' ? '' : `${path}.`;
    for (const name of Object.keys(read)) addOtherTypes(paths, prefix + name, read[name], sent[name]);
  } else paths.add(path === '' ? 'items of the list' : path);
}
