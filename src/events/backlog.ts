import { Bounded } from './bounded.ts';

/** Work that is done one item at a time, in order, behind the back of whoever adds it; what waits is bounded. */
export class Backlog<T extends { readonly size: number }> {
  readonly #work: (item: T, signal: AbortSignal) => Promise<void>;
  readonly #abort = new AbortController();
  readonly #items = new Bounded<T>();
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
