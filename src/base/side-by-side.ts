/** Works on up to `limit` items at a time, and yields the results in the order of the items. */
export async function* sideBySide<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const doing = work(item);
      // Nobody else handles a rejection after the reader stops early.
      doing.catch(() => undefined);
      running.push(doing);
      const first = running.length >= limit ? running.shift() : undefined;
      if (first) yield await first;
    }
    for (let first = running.shift(); first; first = running.shift()) yield await first;
  } finally {
    await Promise.allSettled(running);
  }
}
