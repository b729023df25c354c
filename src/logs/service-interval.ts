import type { Client } from '../client/api/client.ts';
import type { LogFilter } from '../client/api/logs.ts';
import type { Page } from '../client/api/pages.ts';
import { TOLERATED_CLOCK_MS } from '../client/http/service-clock.ts';
import type { Log } from '../schema/log.ts';
import { requireBegun } from './entry.ts';
import { type IntervalInput, intervalOf } from './options.ts';

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
  /** How far the service's clock is ahead of this machine's; undefined before the first response. */
  #aheadMs: number | undefined;
  /** Whether this machine's clock or a second response confirmed the service's time. */
  #isCertain = false;

  constructor(client: Pick<Client, 'clock' | 'machineAhead' | 'now'>, input: IntervalInput) {
    this.#client = client;
    this.#input = input;
    this.#begunAt = client.clock.now();
    this.#now = this.#begunAt + this.#learnedMs;
    this.#value = intervalOf(input, this.#now);
  }

  get value(): Interval {
    return this.#value;
  }

  /** The service's time when the command began. */
  get now(): number {
    return this.#now;
  }

  /**
   * Resolves the times by requests that only show the service's time: one, and another one where the clocks disagree.
   * @throws SvcError `usage` for a range after the service's time, or if the times contradict each other
   */
  async learn(client: Pick<Client, 'logs'>, filter: Pick<LogFilter, 'entityType' | 'entityId'>): Promise<void> {
    while (!this.#isCertain) {
      await client.logs.list(filter, { pageSize: 1 }).pages().next();
      this.settle();
    }
  }

  /**
   * Resolves the times by the newest response. Where the first one and this machine's clock disagree, the second one is
   * looked at too, because one `Date` header may be wrong. Returns whether what was read until now has to be read again.
   * @throws SvcError `usage` for a range after the service's time, in which nothing can be, or if the times contradict each other
   */
  settle(): boolean {
    if (this.#isCertain) return false;
    const { since, until } = this.#value;
    this.#isCertain = this.#aheadMs !== undefined || this.#learnedMs === 0;
    this.#aheadMs = nearer(this.#aheadMs, this.#learnedMs);
    this.#now = this.#begunAt + this.#aheadMs;
    try {
      this.#value = intervalOf(this.#input, this.#now);
      requireBegun(this.#value.since ?? -Infinity, this.#client.clock.now() + this.#aheadMs);
    } catch (error) {
      // While only one response says that this machine's clock is wrong, that response may be the wrong one.
      if (this.#isCertain) throw error;
      return true;
    }
    return this.#value.since !== since || this.#value.until !== until;
  }

  /**
   * Yields the pages of a list of this range. If the first response shows that this machine's clock is wrong, the list starts
   * over with the right times, and once more if the second response differs. A list that begins at a cursor keeps its times.
   * @throws SvcError `usage` for a range after the service's time
   */
  async *pages(read: () => AsyncGenerator<Page<Log>>, isAtCursor: boolean): AsyncGenerator<Page<Log>> {
    for (;;) {
      const pages = read();
      try {
        const first = await pages.next();
        if (!isAtCursor && this.settle()) continue;
        if (first.done === true) return;
        yield first.value;
        return yield* pages;
      } finally {
        await pages.return(undefined);
      }
    }
  }

  /** How far the service's clock is ahead, as far as the newest response proves it. */
  get #learnedMs(): number {
    const isApart = Math.abs(this.#client.machineAhead()) > TOLERATED_CLOCK_MS;
    return isApart ? this.#client.now() - this.#client.clock.now() : 0;
  }
}

/** Returns the difference of the clocks that counts: the first, unless the second differs and is nearer to this machine's. */
function nearer(first: number | undefined, second: number): number {
  if (first === undefined) return second;
  const isOther = Math.abs(second - first) > TOLERATED_CLOCK_MS;
  return isOther && Math.abs(second) < Math.abs(first) ? second : first;
}
