/** Whether a value is an object with named members, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value, if it is such an object. */
export function objectOrUndefined(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

/** The value of a JSON text; undefined for any other text. For what need not be shown again as it was sent. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Lists the members that a shape left out because their values have another type: dotted paths, without the positions of
 * items. `read` is what the shape made of `sent`.
 */
export function otherTypes(read: unknown, sent: unknown): string[] {
  const found = new Set<string>();
  addOtherTypes(found, '', read, sent);
  return [...found];
}

function addOtherTypes(found: Set<string>, path: string, read: unknown, sent: unknown): void {
  if (read === sent) return;
  if (Array.isArray(sent) && Array.isArray(read)) {
    for (let at = 0; at < sent.length; at += 1)
      if (read[at] !== sent[at]) addOtherTypes(found, path, read[at], sent[at]);
  } else if (isObject(sent) && isObject(read)) {
    const prefix = path === '' ? '' : `${path}.`;
    for (const name of Object.keys(read)) addOtherTypes(found, prefix + name, read[name], sent[name]);
  } else found.add(path === '' ? 'items of the list' : path);
}
