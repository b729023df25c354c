import { SvcError } from '../base/errors.ts';
import { utcTime } from '../cli/output/time.ts';
import type { Client } from '../client/api/client.ts';
import { TOLERATED_CLOCK_MS } from '../client/http/request.ts';
import { intervalOf, type IntervalInput } from './options.ts';

type Interval = ReturnType<typeof intervalOf>;

/**
 * A typed time range. Its relative times count from the service's time: before the first response, that is the time of this
 * machine, whose clock may be wrong.
 */
export class ServiceInterval {
  readonly #input: IntervalInput;
  readonly #client: Pick<Client, 'clock' | 'machineAhead' | 'now'>;
  readonly #begunAt: number;
  #now: number;
  #value: Interval;
  #isSettled = false;

  constructor(client: Pick<Client, 'clock' | 'machineAhead' | 'now'>, input: IntervalInput) {
    this.#client = client;
    this.#input = input;
    this.#begunAt = client.clock.now();
    this.#now = this.#begun();
    this.#value = intervalOf(input, this.#now);
  }

  get value(): Interval {
    return this.#value;
  }

  /** The service's time when the command began. */
  get now(): number {
    return this.#now;
  }

  /** Resolves the times by the first response. Returns whether they are others than before. */
  settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    const { since, until } = this.#value;
    this.#now = this.#begun();
    this.#value = intervalOf(this.#input, this.#now);
    return this.#value.since !== since || this.#value.until !== until;
  }

  /** Fails for a range after the service's time, in which nothing can be. @throws SvcError `usage` */
  requireBegun(): void {
    const { since = -Infinity } = this.#value;
    const now = this.#client.now();
    if (since <= now + TOLERATED_CLOCK_MS) return;
    throw new SvcError('usage', `--since is ${utcTime(since)}, after the service's time (${utcTime(now)})`, {
      hint: 'Choose an earlier --since. Whether the clock of this machine is wrong:',
      next: ['doctor'],
    });
  }

  #begun(): number {
    const { clock } = this.#client;
    const isApart = Math.abs(this.#client.machineAhead()) > TOLERATED_CLOCK_MS;
    return this.#begunAt + (isApart ? this.#client.now() - clock.now() : 0);
  }
}
