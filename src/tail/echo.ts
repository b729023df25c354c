import type { Log } from '../schema/log.ts';

/** Reads are remembered by what they look like, the last so many of them. */
const MOST_KNOWN = 100;

/**
 * Tells the entries that a tail's own reads leave in the log from those of others: reads that look like an earlier one
 * but for their time, one for each request. Without that, a tail of a service that logs reads would never be idle.
 */
export class Echo {
  readonly #known = new Set<string>();
  /** Requests whose entry was not met yet. The first one asked the service for its time. */
  #asked = 1;

  /** Takes note of requests that were made. */
  asked(requests: number): void {
    this.#asked += requests;
  }

  /** Whether this is news, and no trace of the tail itself. */
  isNews(log: Log): boolean {
    if (log.operation !== 'read') return true;
    const looks = JSON.stringify({ ...log, created_at: undefined, id: undefined });
    if (this.#known.delete(looks) && this.#asked > 0) {
      this.#known.add(looks);
      this.#asked -= 1;
      return false;
    }
    this.#known.add(looks);
    for (const oldest of this.#known) {
      if (this.#known.size <= MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
    return true;
  }
}
