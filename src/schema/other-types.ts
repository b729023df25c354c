import { isObject } from './json-value.ts';

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
    for (const [at, item] of sent.entries()) addOtherTypes(found, path, read[at], item);
  } else if (isObject(sent) && isObject(read)) {
    const prefix = path === '' ? '' : `${path}.`;
    for (const name of Object.keys(read)) addOtherTypes(found, prefix + name, read[name], sent[name]);
  } else found.add(path === '' ? 'items of the list' : path);
}
