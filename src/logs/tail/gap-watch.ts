// Notices time whose entries the service may have deleted before a tail read them.

import { NO_TIME, oldestOf, type TailState, type TimeRange } from '../entry.ts';
import type { Poll } from './poll.ts';
import { BELIEVED_JUMP_MS, type SteadySource } from './steady-source.ts';

interface GapOptions {
  readonly retentionMs: number;
  /** Called with a range whose entries the service may have deleted before they were read. */
  readonly onGap: (gap: TimeRange) => void;
}

/**
 * Notices gaps. The service deletes the oldest entries first, so an entry that it still has proves that all later ones exist. A gap
 * begins where the log was read to, and its end may be uncertain for some polls. Until it is certain, the position stays before
 * the gap, so that a restarted tail notices it again.
 */
export class GapWatch {
  readonly #source: SteadySource;
  readonly #state: TailState;
  readonly #onGap: GapOptions['onGap'];
  /** How long the service keeps entries, as far as the oldest ones show it. */
  #keptMs: number;
  /** Where a gap begins whose end is uncertain. */
  #from: number | undefined;
  /** The time of the oldest entry read since then. */
  #oldest = NO_TIME;

  constructor(source: SteadySource, state: TailState, { retentionMs, onGap }: GapOptions) {
    this.#source = source;
    this.#state = state;
    this.#keptMs = retentionMs;
    this.#onGap = onGap;
  }

  /** Looks at a poll before its entries are passed on. `knownTo` is the time up to which all entries were known before it. */
  check({ entries, end }: Poll, knownTo: number): void {
    const now = this.#source.now();
    const edge = now - this.#keptMs;
    // A false Date header may have shown a later time, in which the gap seemed to be.
    if (this.#from !== undefined && this.#from >= edge) this.#close();
    const from = this.#from ?? knownTo;
    if (from >= edge) return;
    this.#from = from;
    this.#state.hold();
    this.#oldest = Math.min(this.#oldest, oldestOf(entries));
    if (!this.#isEndCertain(end, edge)) return;
    const to = Math.min(this.#oldest, edge);
    this.#keptMs = Math.max(this.#keptMs, now - this.#oldest);
    this.#close();
    if (to > from) this.#onGap({ from, to });
  }

  #isEndCertain(readTo: number, edge: number): boolean {
    const { isConfirmed, clock } = this.#source;
    if (!isConfirmed) return false;
    if (this.#oldest !== NO_TIME) return true;
    // No entry shows the end of the gap, so a false Date header may. As for a position, this machine's clock is the limit.
    return readTo >= edge && this.#source.now() <= clock.now() + BELIEVED_JUMP_MS;
  }

  #close(): void {
    this.#from = undefined;
    this.#oldest = NO_TIME;
    this.#state.release();
  }
}
