import { NO_TIME } from './entry.ts';
import { type Look, lookAtPast } from './look.ts';
import type { TailEvent } from './options.ts';
import { Past } from './past.ts';
import type { LogSource } from './source.ts';
import type { TailState } from './state.ts';
import { wholeSecond } from './window.ts';

/** What a catch-up is told. */
export interface CatchUpOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  readonly onEvent: (event: TailEvent) => void;
}

/** Reads what lies between the state and the present, and notices where retention made a gap. */
export class CatchUp {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #options: CatchUpOptions;
  #past: Past | undefined;
  #position: number | undefined;
  #gapFrom: number | undefined;
  #keepsLonger = false;

  constructor(source: LogSource, state: TailState, options: CatchUpOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether so much lies between what was read and the present that it is read in parts. */
  get isBehind(): boolean {
    const { overlapMs } = this.#options;
    const near = overlapMs + Math.max(overlapMs / 2, 60_000);
    const isBehind =
      this.#past?.isReading || this.#source.now() - (this.#position ?? this.#state.readTo) > near;
    if (!isBehind) this.#past = this.#position = undefined;
    return isBehind;
  }

  /** Reads the next part. Not to be called again before all that it found was passed on. */
  async look(): Promise<Look> {
    const { overlapMs } = this.#options;
    this.#past ??= new Past(this.#source, this.#state.settled);
    const stretch = await this.#past.next(wholeSecond(this.#source.now() - overlapMs));
    const look = lookAtPast(this.#source, this.#state, stretch, overlapMs);
    this.#noticeGap(look, stretch.to);
    this.#position = Math.min(stretch.to, look.readTo);
    // The first answer may have told that this machine's clock runs ahead: then that was not yet the past.
    if (stretch.to > this.#source.now() - overlapMs) this.#past = undefined;
    // Until it is known how far a gap goes, who begins again here must meet it again.
    return this.#gapFrom === undefined ? look : { ...look, readTo: this.#state.readTo };
  }

  /** Reads no further. */
  stop(): void {
    this.#past?.stop();
  }

  // The service forgets the oldest first: what it still has proves that it has all that came after.
  #noticeGap({ entries }: Look, readTo: number): void {
    const { overlapMs, retentionMs, onEvent } = this.#options;
    const edge = this.#source.now() - retentionMs;
    const known = this.#position ?? Math.max(this.#state.settled, this.#state.readTo - overlapMs);
    if (this.#keepsLonger || (this.#gapFrom ?? known) >= edge) return;
    this.#gapFrom ??= known;
    const oldest = Math.min(...entries.map(({ at }) => at), NO_TIME);
    if (oldest === NO_TIME && readTo < edge) return;
    const gap = { from: this.#gapFrom, to: Math.min(oldest, edge) };
    this.#keepsLonger = oldest < edge;
    this.#gapFrom = undefined;
    if (gap.to > gap.from) onEvent({ kind: 'gap', ...gap });
  }
}
