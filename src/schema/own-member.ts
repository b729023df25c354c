/**
 * Returns the member of `table` that is called `name`. Unlike `table[name]`, returns undefined for inherited names such as
 * `constructor`.
 */
export function ownMember<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
