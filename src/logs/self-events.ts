import type { Log } from '../schema/log.ts';

/** Reads are remembered by their content, the last so many of them. */
const MAX_KNOWN = 100;

/** Recognizes a tail's own reads, which the service may log: otherwise a tail would never be idle. */
export class SelfEventFilter {
  readonly #known = new Set<string>();
  /** Requests whose entry was not met yet. */
  #requests: number;

  /** `requests` were made before; the usual one learned the service's time. */
  constructor(requests = 1) {
    this.#requests = requests;
  }

  requested(requests: number): void {
    this.#requests += requests;
  }

  /** Whether the entry is not caused by the tail itself. */
  isNews(log: Log): boolean {
    if (log.operation !== 'read') return true;
    const content = JSON.stringify({ ...log, created_at: undefined, id: undefined });
    if (this.#known.delete(content) && this.#requests > 0) {
      this.#known.add(content);
      this.#requests -= 1;
      return false;
    }
    this.#known.add(content);
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return true;
  }
}
