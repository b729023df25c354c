/** Any function, called however it is called. */
export type Call = (this: unknown, ...values: unknown[]) => unknown;

/** Functions put in place of others, and how to take them back. */
export class Replacements {
  readonly #undo: (() => void)[] = [];

  /** Puts what `make` makes of a function in its place; leaves alone what is no function. */
  replace(holder: object, name: string, make: (real: Call) => Call): void {
    const found = Object.getOwnPropertyDescriptor(holder, name);
    const real: unknown = found?.value;
    if (found === undefined || typeof real !== 'function') return;
    const value = Object.assign(make(real as Call), real);
    // Some say there how they are to be promisified.
    for (const symbol of Object.getOwnPropertySymbols(real))
      Object.assign(value, { [symbol]: Reflect.get(real, symbol) });
    Object.defineProperty(holder, name, { ...found, value });
    this.#undo.push(() => void Object.defineProperty(holder, name, found));
  }

  undo(): void {
    for (const step of this.#undo.splice(0).toReversed()) step();
  }
}
