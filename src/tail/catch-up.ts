import { NO_TIME } from './entry.ts';
import { type Look, lookAtPast } from './look.ts';
import type { TailEvent } from './options.ts';
import { SECOND_MS, TooManyPages, wholeSecond } from './read-window.ts';
import type { LogSource } from './source.ts';
import type { TailState } from './state.ts';

const MINUTE_MS = 60_000;
const WIDEST_MS = 6 * 60 * MINUTE_MS;
const MOST_PAGES = 20;
const FEW_PAGES = 5;

/** What a catch-up is told. */
export interface CatchUpOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  readonly onEvent: (event: TailEvent) => void;
}

/** Reads the past in windows that hold neither too little nor too much, and notices where retention made a gap. */
export class CatchUp {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #options: CatchUpOptions;
  #position: number | undefined;
  #widthMs = 5 * MINUTE_MS;
  #gapFrom: number | undefined;
  #keepsLonger = false;

  constructor(source: LogSource, state: TailState, options: CatchUpOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether so much lies between what was read and the present that it is read in parts. */
  get isBehind(): boolean {
    const near = Math.max(2 * this.#options.overlapMs, 5 * MINUTE_MS);
    const isBehind = this.#source.now() - (this.#position ?? this.#state.readTo) > near;
    if (!isBehind) this.#position = undefined;
    return isBehind;
  }

  /** Reads the next part. Not to be called again before all that it found was passed on. */
  async look(): Promise<Look> {
    const from = this.#position ?? this.#state.settled;
    for (;;) {
      const end = wholeSecond(this.#source.now() - this.#options.overlapMs);
      const window = { from, to: Math.max(from + SECOND_MS, Math.min(from + this.#widthMs, end)) };
      const narrowest = window.to - window.from <= SECOND_MS;
      try {
        const mostPages = narrowest ? Infinity : MOST_PAGES;
        const look = await lookAtPast(this.#source, this.#state, window, {
          overlapMs: this.#options.overlapMs,
          mostPages,
        });
        this.#noticeGap(look, window.to);
        this.#position = Math.min(window.to, look.readTo);
        if (look.requests <= FEW_PAGES) this.#widthMs = Math.min(WIDEST_MS, this.#widthMs * 2);
        return look;
      } catch (error) {
        if (!(error instanceof TooManyPages)) throw error;
        this.#widthMs = Math.max(SECOND_MS, wholeSecond((window.to - window.from) / 2));
      }
    }
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
