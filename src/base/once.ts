/** Runs work once per name, and returns the same promise to every caller. Failed work runs again at the next call. */
export function once<T>(promises: Map<string, Promise<T>>, name: string, work: () => Promise<T>): Promise<T> {
  const earlier = promises.get(name);
  if (earlier) return earlier;
  const promise = work();
  promises.set(name, promise);
  promise.catch(() => promises.delete(name));
  return promise;
}
