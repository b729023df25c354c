import type { Clock } from '../../base/system.ts';
import { MINUTE_MS } from '../../schema/durations.ts';

/** How long a job must be missing in every poll before this counts, because a replica may lag. */
export const MISSING_MS = 5 * MINUTE_MS;

/**
 * Records since when each job of a wait has been missing in every poll. A single response that a job does not exist proves
 * nothing, because a replica may lag.
 */
export class Absences {
  readonly #since = new Map<string, number>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Notes what a poll found of a job. */
  note(job: string, isMissing: boolean): void {
    if (!isMissing) this.#since.delete(job);
    else if (!this.#since.has(job)) this.#since.set(job, this.#clock.now());
  }

  /** Tells whether a job has been missing for so long that the wait for it ends. */
  isLong(job: string): boolean {
    const since = this.#since.get(job);
    return since !== undefined && this.#clock.now() - since >= MISSING_MS;
  }
}
