// Reads a tail from its position to the present.

import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import type { TailState } from '../entry.ts';
import { Backfill, type BackfillShape, LEEWAY_MS, USUAL_SHAPE } from './backfill.ts';
import { type Poll, pollBackfill } from './poll.ts';
import type { SteadySource } from './steady-source.ts';

/** The length of ranges in delayed mode: of a very busy log, each wastes about half a page on average. */
const DELAYED_MS = 5 * SECOND_MS;

/**
 * Reads from the position to the present. In delayed mode, it stays as far behind the present as an entry may be late, so that
 * nothing needs to be read twice.
 */
export class CatchUpReader {
  /** Whether the reader is in delayed mode, because the log is too busy to be read twice. */
  isDelayed = false;
  readonly #source: SteadySource;
  readonly #state: TailState;
  readonly #overlapMs: number;
  #backfill: Backfill | undefined;
  /** The time up to which the backfill was read. It begins before the time up to which the log was read. */
  #reached: number | undefined;

  constructor(source: SteadySource, state: TailState, overlapMs: number) {
    this.#source = source;
    this.#state = state;
    this.#overlapMs = overlapMs;
  }

  /** Whether the present is so far away that the log is read in ranges. */
  get isBehind(): boolean {
    const isBehind = this.#backfill?.isReading || this.isFarBehind;
    if (!isBehind && !this.isDelayed) this.#dropBackfill();
    return isBehind;
  }

  /** Whether more is left to read than the end of the log, which each poll reads. */
  get isFarBehind(): boolean {
    const near = this.#overlapMs + Math.max(this.#overlapMs / 2, MINUTE_MS);
    return this.#source.now() - (this.#reached ?? this.#state.readTo) > near;
  }

  /** The time up to which all entries are known. Those of the overlap before the end of the last poll may arrive late. */
  get knownTo(): number {
    const { settled, readTo } = this.#state;
    return Math.max(settled, readTo - this.#overlapMs, this.#reached ?? settled);
  }

  /** Switches delayed mode on or off. Ranges read ahead are discarded. */
  delay(isDelayed: boolean): void {
    this.isDelayed = isDelayed;
    this.stop();
    this.#dropBackfill();
  }

  #dropBackfill(): void {
    this.#backfill = undefined;
    this.#reached = undefined;
  }

  /** The milliseconds until the next range can be read in delayed mode. */
  get restMs(): number {
    if (this.#backfill?.isReading) return 0;
    return Math.max(0, this.#plannedTo + DELAYED_MS - this.#end);
  }

  get #plannedTo(): number {
    return this.#backfill?.plannedTo ?? this.#state.settled;
  }

  /** The time before which no more entries arrive. The service's time is known to the second. */
  get #end(): number {
    const leewayMs = this.isDelayed ? LEEWAY_MS : 0;
    return wholeSecond(this.#source.now() - this.#overlapMs - leewayMs);
  }

  // In delayed mode ranges are wide, so that most pages are full and few requests are wasted.
  get #shape(): BackfillShape {
    if (!this.isDelayed) return USUAL_SHAPE;
    return { concurrency: 3, wanted: 1_500, widthMs: DELAYED_MS, keptMs: this.#overlapMs + MINUTE_MS };
  }

  /** Reads the next range. Must not be called again before all found entries were passed on. */
  async poll(): Promise<Poll> {
    const { settled, readTo, newest } = this.#state;
    if (!this.#backfill?.isReading && this.#end <= this.#plannedTo)
      return { entries: [], requests: 0, end: settled, readTo, settleTo: settled, newest };
    this.#backfill ??= new Backfill(this.#source, settled, this.#shape);
    const part = await this.#backfill.next(this.#end);
    const poll = pollBackfill(this.#source, this.#state, part, this.#overlapMs);
    this.#reached = Math.min(part.to, poll.readTo);
    // The first response may show that this machine's clock is ahead, so that the range was not yet in the past.
    if (part.to > this.#source.now() - this.#overlapMs) this.#backfill = undefined;
    return this.isDelayed ? { ...poll, settleTo: Math.min(part.to, this.#end) } : poll;
  }

  stop(): void {
    this.#backfill?.stop();
  }
}
