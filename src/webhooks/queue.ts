/** As many items, and bytes, as may wait for their turn. */
const MAX_ITEMS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Passes items, which know their size in bytes, to one consumer at its own pace; how many may wait is bounded. */
export class Queue<T extends { readonly size: number }> {
  readonly #waiting: T[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  get isFull(): boolean {
    return this.#waiting.length >= MAX_ITEMS || this.#bytes >= MAX_BYTES;
  }

  /** Adds an item. False when the queue is full or has ended. */
  add(item: T): boolean {
    if (this.#ended || this.isFull) return false;
    this.#waiting.push(item);
    this.#bytes += item.size;
    this.#wake();
    return true;
  }

  /** Takes no more items. Those that wait are still consumed. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** The items in order, up to the end. */
  async *items(): AsyncGenerator<T> {
    for await (const batch of this.batches(1)) yield* batch;
  }

  /** All that waits, at most so many items at a time, up to the end. */
  async *batches(most = MAX_ITEMS): AsyncGenerator<readonly T[]> {
    for (;;) {
      const batch = this.#waiting.splice(0, most);
      for (const { size } of batch) this.#bytes -= size;
      if (batch.length > 0) yield batch;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
