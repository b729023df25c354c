/** Works on up to `most` items at a time, and yields the results in the order of the items. */
export async function* sideBySide<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const doing = work(item);
      // When the reader stops early, nobody else handles a rejection.
      doing.catch(() => undefined);
      underWay.push(doing);
      const first = underWay.length >= most ? underWay.shift() : undefined;
      if (first) yield await first;
    }
    for (let first = underWay.shift(); first; first = underWay.shift()) yield await first;
  } finally {
    await Promise.allSettled(underWay);
  }
}
