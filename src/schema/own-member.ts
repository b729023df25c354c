/**
 * Returns the member of a table that has this name. Unlike an index, it finds nothing for names that every object
 * inherits, such as `constructor`.
 */
export function ownMember<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
