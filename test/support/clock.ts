import type { Clock } from '../../src/base/system.ts';

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/**
 * A clock that moves only when told to or, with `auto`, as soon as a caller sleeps. With `runs` it also runs by itself, like
 * that of a server beside it. It records every pause.
 */
export class FakeClock implements Clock {
  /** Every requested pause, in milliseconds, in order. */
  readonly slept: number[] = [];
  #now: number;
  readonly #begun: number | undefined;
  readonly #auto: boolean;
  #sleepers: Sleeper[] = [];

  constructor(options: { readonly start?: number; readonly auto?: boolean; readonly runs?: boolean } = {}) {
    this.#now = options.start ?? Date.UTC(2026, 0, 5, 12);
    this.#auto = options.auto ?? true;
    this.#begun = options.runs === true ? Date.now() : undefined;
  }

  now(): number {
    return this.#now + (this.#begun === undefined ? 0 : Date.now() - this.#begun);
  }

  /** The number of callers that are asleep. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    if (!(ms > 0)) return;
    await new Promise<void>((resolve, reject) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const sleeper: Sleeper = { due: this.now() + ms, wake };
      this.#sleepers.push(sleeper);
      const stop = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', stop, { once: true });
      if (this.#auto) setImmediate(() => this.#next());
    });
  }

  /** Moves on by `ms`, and wakes every sleeper that becomes due on the way, in order. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let due = this.#earliest(); due !== undefined && due <= until; due = this.#earliest()) {
      this.#next();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = Math.max(this.#now, until);
  }

  /** Moves to the moment at which the next sleeper is due. */
  toNext(): void {
    this.#next();
  }

  #earliest(): number | undefined {
    return this.#sleepers.length === 0 ? undefined : Math.min(...this.#sleepers.map(({ due }) => due));
  }

  #next(): void {
    const due = this.#earliest();
    if (due === undefined) return;
    this.#now += Math.max(0, due - this.now());
    const awake = this.#sleepers.filter((sleeper) => sleeper.due === due);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.due !== due);
    for (const { wake } of awake) wake();
  }
}
