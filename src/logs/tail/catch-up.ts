// Reads a tail from its position to the present.

import { SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import { NO_TIME, oldestOf, type TailState, type TimeRange } from '../entry.ts';
import { Backfill, type BackfillShape, LEEWAY_MS, USUAL_SHAPE } from './backfill.ts';
import { type Poll, pollBackfill } from './poll.ts';
import type { SteadySource } from './steady-source.ts';

export interface CatchUpOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  /** Called with a range whose entries the service may have deleted before they were read. */
  readonly onGap: (gap: TimeRange) => void;
}

/** The length of ranges in delayed mode: of a very busy log, each wastes about half a page on average. */
const DELAYED_MS = 5 * SECOND_MS;

/**
 * Reads from the position to the present, and detects gaps caused by retention. In delayed mode, it stays as far behind the
 * present as an entry may be late, so that nothing needs to be read twice.
 */
export class CatchUpReader {
  /** Whether the reader is in delayed mode, because the log is too busy to be read twice. */
  isDelayed = false;
  readonly #source: SteadySource;
  readonly #state: TailState;
  readonly #options: CatchUpOptions;
  #backfill: Backfill | undefined;
  #reached: number | undefined;
  #gapFrom: number | undefined;
  /** The time of the oldest entry read since the beginning of the gap. */
  #oldest = NO_TIME;
  #keepsLonger = false;

  constructor(source: SteadySource, state: TailState, options: CatchUpOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether the present is so far away that the log is read in ranges. */
  get isBehind(): boolean {
    const isBehind = this.#backfill?.isReading || this.isFarBehind;
    if (!isBehind && !this.isDelayed) this.#dropBackfill();
    return isBehind;
  }

  /** Whether more is left to read than the end of the log, which each poll reads. */
  get isFarBehind(): boolean {
    const { overlapMs } = this.#options;
    const near = overlapMs + Math.max(overlapMs / 2, 60_000);
    return this.#source.now() - (this.#reached ?? this.#state.readTo) > near;
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
    return wholeSecond(this.#source.now() - this.#options.overlapMs - leewayMs);
  }

  // In delayed mode ranges are wide, so that most pages are full and few requests are wasted.
  get #shape(): BackfillShape {
    if (!this.isDelayed) return USUAL_SHAPE;
    return { concurrency: 3, wanted: 1_500, widthMs: DELAYED_MS, keptMs: this.#options.overlapMs + MINUTE_MS };
  }

  /** Reads the next range. Must not be called again before all found entries were passed on. */
  async poll(): Promise<Poll> {
    const { overlapMs } = this.#options;
    const { settled, readTo, newest } = this.#state;
    if (!this.#backfill?.isReading && this.#end <= this.#plannedTo)
      return { entries: [], requests: 0, readTo, settleTo: settled, newest };
    this.#backfill ??= new Backfill(this.#source, settled, this.#shape);
    const part = await this.#backfill.next(this.#end);
    const poll = pollBackfill(this.#source, this.#state, part, overlapMs);
    this.#noticeGap(poll, part.to);
    this.#reached = Math.min(part.to, poll.readTo);
    // The first response may show that this machine's clock is ahead, so that the range was not yet in the past.
    if (part.to > this.#source.now() - overlapMs) this.#backfill = undefined;
    // The position stays before a gap of unknown length, so that a restarted tail detects it again.
    if (this.#gapFrom !== undefined) return { ...poll, readTo, settleTo: settled };
    return this.isDelayed ? { ...poll, settleTo: Math.min(part.to, this.#end) } : poll;
  }

  stop(): void {
    this.#backfill?.stop();
  }

  // The service deletes the oldest entries first, so an existing entry proves that all later ones exist.
  #noticeGap({ entries }: Poll, readTo: number): void {
    const { overlapMs, retentionMs, onGap } = this.#options;
    const edge = this.#source.now() - retentionMs;
    const knownTo = this.#reached ?? Math.max(this.#state.settled, this.#state.readTo - overlapMs);
    // A false Date header may have shown a later time, in which the gap seemed to be.
    if ((this.#gapFrom ?? knownTo) >= edge) this.#gapFrom = undefined;
    if (this.#keepsLonger || (this.#gapFrom ?? knownTo) >= edge) return;
    if (this.#gapFrom === undefined) this.#oldest = NO_TIME;
    this.#gapFrom ??= knownTo;
    this.#oldest = Math.min(this.#oldest, oldestOf(entries));
    if (!this.#source.isConfirmed) return;
    // No entry shows the end of the gap, so a false Date header may: of 2030, when this machine's clock says 2026.
    if (this.#oldest === NO_TIME && (readTo < edge || edge > this.#source.clock.now() + DAY_MS)) return;
    const gap = { from: this.#gapFrom, to: Math.min(this.#oldest, edge) };
    this.#keepsLonger = this.#oldest < edge;
    this.#gapFrom = undefined;
    if (gap.to > gap.from) onGap(gap);
  }
}
