import { Bounded } from './bounded.ts';

/** Hands items from whoever has them to whoever takes them, at the taker's pace; what waits is bounded. */
export class Inbox<T extends { readonly size: number }> {
  readonly #waiting = new Bounded<T>();
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
