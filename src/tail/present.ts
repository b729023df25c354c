import { isWorthSettling, type Look, lookAtPresent, settledBy } from './look.ts';
import type { LogSource } from './source.ts';
import type { TailState } from './state.ts';

const PAGE = 100;
/** Seconds in doubt that a look reads again at once; the others come again with the next looks. */
const MOST_DOUBTS = 5;
/** How far before the last look a short one begins: most of what is late is late by less. */
const SHORT_MS = 5_000;
/** A look over the whole overlap may come this long after the one before, for each of its pages: 24 a minute. */
const MS_PER_PAGE = 2_500;

/**
 * Looks at the present. Where all that is not done with fits a page, each look takes in all of it. A busy log has
 * dozens of pages there: then most looks begin shortly before the last one, and the whole is read to a rhythm, for
 * what came late, or not at all while parts of it are read once more before they are done with.
 */
export class Present {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #overlapMs: number;
  readonly #isOnce: boolean;
  #wholeAt = -Infinity;

  /** `isOnce`: no look follows that what is in doubt could be left to. */
  constructor(source: LogSource, state: TailState, overlapMs: number, isOnce: boolean) {
    this.#source = source;
    this.#state = state;
    this.#overlapMs = overlapMs;
    this.#isOnce = isOnce;
  }

  /** Reads what is new. Not to be called again before all that it found was passed on. */
  async look(): Promise<Look> {
    const { settled, readTo } = this.#state;
    const now = this.#source.now();
    const isWhole = this.#isOnce || this.#isWholeDue(now);
    const from = isWhole ? settled : Math.max(settled, readTo - SHORT_MS);
    const look = await lookAtPresent(this.#source, this.#state, {
      from,
      overlapMs: this.#overlapMs,
      mostDoubts: this.#isOnce ? Infinity : MOST_DOUBTS,
    });
    if (isWhole) this.#wholeAt = now;
    return look;
  }

  #isWholeDue(now: number): boolean {
    const { passed, newest, settled } = this.#state;
    const pages = 1 + Math.floor(passed.total / PAGE);
    if (pages === 1) return true;
    const restMs = pages * MS_PER_PAGE;
    if (now < this.#wholeAt + restMs) return false;
    const settleTo = settledBy(newest, this.#overlapMs) ?? settled;
    return restMs < this.#overlapMs || !isWorthSettling(this.#state, settleTo, this.#overlapMs);
  }
}
