/** Returns what was begun under a name, or begins it. What failed is begun again, because a store may be back by then. */
export function once<T>(known: Map<string, Promise<T>>, name: string, begin: () => Promise<T>): Promise<T> {
  const before = known.get(name);
  if (before) return before;
  const begun = begin();
  known.set(name, begun);
  begun.catch(() => known.delete(name));
  return begun;
}
