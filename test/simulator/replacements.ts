/** Any function, with any arguments and any `this`. */
export type Call = (this: unknown, ...values: unknown[]) => unknown;

/** Replaced functions, and how to restore the originals. */
export class Replacements {
  readonly #undo: (() => void)[] = [];

  /** Replaces a function with the one that `make` returns for it. Ignores members that are not functions. */
  replace(holder: object, name: string, make: (real: Call) => Call): void {
    const found = Object.getOwnPropertyDescriptor(holder, name);
    const real: unknown = found?.value;
    if (found === undefined || typeof real !== 'function') return;
    const value = Object.assign(make(real as Call), real);
    // Some functions have their promisified form under a symbol.
    for (const symbol of Object.getOwnPropertySymbols(real))
      Object.assign(value, { [symbol]: Reflect.get(real, symbol) });
    Object.defineProperty(holder, name, { ...found, value });
    this.#undo.push(() => void Object.defineProperty(holder, name, found));
  }

  undo(): void {
    for (const step of this.#undo.splice(0).toReversed()) step();
  }
}
