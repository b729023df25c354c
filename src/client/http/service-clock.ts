// Compares the clock of a server with the clock of this machine.

import type { Clock } from '../../base/system.ts';

/** The clock of a server, known from the `Date` header of its responses (R25). */
export class ServiceClock {
  readonly #clock: Clock;
  #offset = 0;
  #machineAhead = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds by which this machine's clock is ahead of the server's, as far as the last response proves a difference. */
  get machineAhead(): number {
    return this.#machineAhead;
  }

  /** Returns the time of the server in epoch milliseconds. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /** Learns the time from the `Date` header of a response, which has whole seconds. `sentAt` is the time of the request. */
  learn(header: string | undefined, sentAt = this.#clock.now()): void {
    const at = header === undefined ? Number.NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const now = this.#clock.now();
    // Assumes the middle of the second, and ignores a difference that may come from the whole seconds.
    const offset = at + 500 - now;
    this.#offset = Math.abs(offset) <= 1_000 ? 0 : offset;
    this.#machineAhead = machineAhead(at, sentAt, now);
  }
}

/** The largest difference between two clocks, in milliseconds, that svc does not mention. */
export const TOLERATED_CLOCK_MS = 2_000;

/**
 * Returns the milliseconds by which this machine's clock is ahead of the server's; negative if behind, 0 if the response proves no
 * difference. The server wrote `date`, in whole seconds, at some time between the request and the response.
 */
export function machineAhead(date: number, sentAt: number, receivedAt: number): number {
  const least = sentAt - (date + 999);
  const most = receivedAt - date;
  return least > 0 || most < 0 ? Math.round((least + most) / 2) : 0;
}
