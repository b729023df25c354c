/** As many items, and bytes, as may wait for their turn. */
const MOST_ITEMS = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Items in order that know their size in bytes. It is for the user not to add more when it is full. */
class BoundedQueue<T extends { readonly size: number }> {
  #items: T[] = [];
  #bytes = 0;

  get isFull(): boolean {
    return this.#items.length >= MOST_ITEMS || this.#bytes >= MOST_BYTES;
  }

  add(item: T): void {
    this.#items.push(item);
    this.#bytes += item.size;
  }

  take(): T | undefined {
    const item = this.#items.shift();
    this.#bytes -= item?.size ?? 0;
    return item;
  }

  takeAll(): readonly T[] {
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    return items;
  }
}

/** Work that is done one item at a time, in order, behind the back of whoever adds it; what waits is bounded. */
export class WorkQueue<T extends { readonly size: number }> {
  readonly #work: (item: T, signal: AbortSignal) => Promise<void>;
  readonly #abort = new AbortController();
  readonly #items = new BoundedQueue<T>();
  #going: Promise<void> | undefined;

  /** `work` must not reject; it ends soon when the signal aborts. */
  constructor(work: (item: T, signal: AbortSignal) => Promise<void>) {
    this.#work = work;
  }

  /** False when too much waits already. */
  add(item: T): boolean {
    if (this.#abort.signal.aborted || this.#items.isFull) return false;
    this.#items.add(item);
    this.#going ??= this.#go();
    return true;
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    await this.#going;
  }

  /** Ends what is being done, and gives what was not begun. */
  async stop(): Promise<readonly T[]> {
    const left = this.#items.takeAll();
    this.#abort.abort();
    await this.#going;
    return left;
  }

  async #go(): Promise<void> {
    for (let item = this.#items.take(); item !== undefined; item = this.#items.take())
      await this.#work(item, this.#abort.signal);
    this.#going = undefined;
  }
}

/** Hands items from whoever has them to whoever takes them, at the taker's pace; what waits is bounded. */
export class EventQueue<T extends { readonly size: number }> {
  readonly #waiting = new BoundedQueue<T>();
  #ended = false;
  #wake: () => void = () => undefined;

  /** Whether as much waits as may. */
  get isFull(): boolean {
    return this.#waiting.isFull;
  }

  /** Adds an item. After the end nobody takes it any more. */
  add(item: T): void {
    if (!this.#ended) this.#waiting.add(item);
    this.#wake();
  }

  /** What waits is still taken, then the taker is done. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Everything that waits, again and again, until the end. For one taker. */
  async *batches(): AsyncGenerator<readonly T[]> {
    for (;;) {
      const batch = this.#waiting.takeAll();
      if (batch.length > 0) yield batch;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
