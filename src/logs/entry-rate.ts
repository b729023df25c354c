/** So many entries a second a key's requests suffice to read twice, with some left for other commands. */
const MOST_PER_SECOND = 110;
/** The share of them from which on they are read twice again. */
const FEW_AGAIN = 0.7;
const MEMORY_MS = 60_000;
const SHORTEST_MS = 30_000;

/** How many entries a second a log gets, by its own time: those of the last minute count most. */
export class EntryRate {
  readonly #most: number;
  #entries = 0;
  #ms = 0;

  constructor(most = MOST_PER_SECOND) {
    this.#most = most;
  }

  /** So many entries were created within so many milliseconds. */
  add(entries: number, ms: number): void {
    const left = Math.exp(-ms / MEMORY_MS);
    this.#entries = this.#entries * left + entries;
    this.#ms = this.#ms * left + ms;
  }

  /** Whether the log is too busy to be read twice, given whether it was until now. A short burst does not count. */
  isTooHigh(before: boolean): boolean {
    if (this.#ms < SHORTEST_MS) return before;
    return (this.#entries / this.#ms) * 1000 > this.#most * (before ? FEW_AGAIN : 1);
  }
}
