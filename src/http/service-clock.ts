import type { Clock } from '../clock.ts';

/** The service's time, learned from the `Date` header of its answers (R25). */
export class ServiceClock {
  readonly #clock: Clock;
  #offset = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds by which the service's clock is ahead of ours. */
  get offset(): number {
    return this.#offset;
  }

  /** Milliseconds since the epoch, by the service's clock. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /** Learns from a `Date` header. It has whole seconds: a difference below one says nothing. */
  learn(header: string | undefined): void {
    const at = header === undefined ? Number.NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const offset = at + 500 - this.#clock.now();
    this.#offset = Math.abs(offset) <= 1_000 ? 0 : offset;
  }
}
