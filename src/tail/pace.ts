const FASTEST_MS = 1_000;
const SLOWEST_MS = 15_000;
const LONGEST_MS = 60_000;
/** With nothing new, this long a pause for each request: 30 a minute, a sixth of a management key's 200 is 33. */
const IDLE_MS_PER_REQUEST = 2_000;
/** With much news, this long a pause for each request: half of what a management key may ask. */
const BUSY_MS_PER_REQUEST = 600;

/** How long to wait between two looks: 1 s to 15 s by what the last ones found, or always the same. */
export class Pace {
  readonly #fixed: number | undefined;
  #ms = 2_000;

  constructor(fixedMs: number | undefined) {
    this.#fixed = fixedMs;
  }

  /** Milliseconds to the next look. Each request may itself be logged, so as many entries as that are no news. */
  after(requests: number, entries: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const isNews = entries > requests;
    this.#ms = isNews ? Math.max(FASTEST_MS, this.#ms / 2) : Math.min(SLOWEST_MS, this.#ms * 1.5);
    const each = isNews ? BUSY_MS_PER_REQUEST : IDLE_MS_PER_REQUEST;
    return Math.min(LONGEST_MS, Math.max(this.#ms, requests * each));
  }
}

/** How long to wait after the nth look in a row that brought no answer: 1 s at first, at most half a minute. */
export function pauseAfterFailure(failures: number): number {
  return Math.min(30_000, 1_000 * 2 ** (failures - 1));
}
