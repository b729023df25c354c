/** As many items, and bytes, as may wait for their turn. */
const MOST_ITEMS = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Items in order that know their size in bytes. It is for the user not to add more when it is full. */
export class Bounded<T extends { readonly size: number }> {
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
