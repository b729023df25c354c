// Protects a tail from false times of the service.

import { SvcError } from '../../base/errors.ts';
import { SECOND_MS, utcTime, wholeSecond } from '../../cli/output/time.ts';
import type { Page } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import type { TailState, TimeRange } from '../entry.ts';
import type { LogSource } from '../read-range.ts';

/** The largest jump of the service's clock that is believed at once. Servers of one service may differ by seconds. */
export const BELIEVED_JUMP_MS = 30 * SECOND_MS;

/**
 * A source whose time survives false `Date` headers. A jump backwards is believed, because it only lets entries be read
 * again. A jump forwards would let a reader skip entries, so it is believed only once an entry is newer than the old time, or
 * this machine's clock agrees.
 */
export class SteadySource implements LogSource {
  readonly clock: LogSource['clock'];
  readonly signal: AbortSignal;
  readonly #source: LogSource;
  /** How far the service's clock is ahead of this machine's; undefined before the first response. */
  #aheadMs: number | undefined;
  #isConfirmed = false;

  constructor(source: LogSource) {
    this.#source = source;
    this.clock = source.clock;
    this.signal = source.signal;
  }

  now(): number {
    return this.#aheadMs === undefined ? this.#source.now() : this.clock.now() + this.#aheadMs;
  }

  async *pages(range: TimeRange, pageSize: number): AsyncGenerator<Page<Log>> {
    for await (const page of this.#source.pages(range, pageSize)) {
      if (this.#aheadMs === undefined) this.#believe(isNear(this.#learnedMs));
      else if (isNear(this.#learnedMs - this.#aheadMs)) this.#isConfirmed = true;
      yield page;
    }
  }

  /** Whether a second response, this machine's clock or an entry confirms the time. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** Reads one entry at most, to learn the service's time. Returns whether there was one. */
  async probe(range: TimeRange): Promise<boolean> {
    for await (const { items } of this.pages(range, 1)) return items.length > 0;
    return false;
  }

  /**
   * Follows the service's clock, which had reached `settled` before. Returns the number of requests: one after a jump
   * forwards, to look for a newer entry. @throws SvcError
   */
  async follow(settled: number): Promise<number> {
    if (this.#aheadMs === undefined) return 0;
    if (!this.#isJump) {
      const isKept = this.#isConfirmed && isNear(this.#learnedMs - this.#aheadMs);
      this.#believe(isKept || isNear(this.#learnedMs));
      return 0;
    }
    const from = wholeSecond(this.now()) + BELIEVED_JUMP_MS;
    const isProven = await this.probe({ from, to: wholeSecond(this.#source.now()) + SECOND_MS });
    if (isProven || settled >= from) this.#believe(true);
    return 1;
  }

  #believe(isConfirmed: boolean): void {
    this.#aheadMs = this.#learnedMs;
    this.#isConfirmed = isConfirmed;
  }

  get #learnedMs(): number {
    return this.#source.now() - this.clock.now();
  }

  get #isJump(): boolean {
    if (this.#aheadMs === undefined || isNear(this.#learnedMs)) return false;
    return this.#learnedMs - this.#aheadMs > BELIEVED_JUMP_MS;
  }
}

function isNear(differenceMs: number): boolean {
  return Math.abs(differenceMs) <= BELIEVED_JUMP_MS;
}

export interface CheckOptions {
  readonly overlapMs: number;
  /** The milliseconds since this process last read the log; undefined if it has not. */
  readonly sinceReadMs: number | undefined;
}

/**
 * Compares a position with the service's time, because a false `Date` header may have moved the position into the future,
 * where nothing is read. A time up to which the log cannot have been read is taken back to the last one that is certain, so
 * that catching up and gaps are noticed. Returns the number of requests.
 * @throws SvcError `bad_response` if the clock is before the position, so that the present is unknown
 */
export async function checkPosition(
  source: SteadySource,
  state: TailState,
  { overlapMs, sinceReadMs }: CheckOptions,
): Promise<number> {
  const toleratedMs = sinceReadMs === undefined ? Math.max(overlapMs, BELIEVED_JUMP_MS) : BELIEVED_JUMP_MS;
  const { settled, newest = -Infinity } = state;
  if (state.readTo <= source.now() + toleratedMs) return 0;
  // Without a request, neither this machine's clock nor a false header would ever be corrected.
  await source.probe({ from: settled, to: settled + SECOND_MS });
  const requests = 1 + (await source.follow(settled));
  const now = source.now();
  if (settled > now + BELIEVED_JUMP_MS) throw clockBehind(now, settled);
  if (state.readTo <= now + toleratedMs) return requests;
  const lastRead = sinceReadMs === undefined ? -Infinity : wholeSecond(now - sinceReadMs);
  // The second of the newest entry counts as read, so that a new entry of that second is a late one.
  state.readTo = Math.max(settled, lastRead, wholeSecond(newest) + SECOND_MS);
  return requests;
}

function clockBehind(now: number, settled: number): SvcError {
  const words = `the service's clock shows ${utcTime(now)}, before the position in the log, ${utcTime(settled)}`;
  return new SvcError('bad_response', words, {
    hint: 'Its Date header or that of a gateway may be wrong. If it is right, the position is not: begin again at an earlier time, with a new archive or checkpoint.',
    retryable: true,
  });
}
