import { isSvcError } from '../errors.ts';
import type { Clock } from '../system.ts';

/** What was seen at one look, or why nothing was. */
export type PollResult<T> = { readonly seen: T } | { readonly reason: string };

/** How to look at something until it is as it should be. */
export interface PollOptions<T> {
  readonly look: () => Promise<T>;
  readonly isDone: (seen: T) => boolean;
  /** The longest wait in milliseconds, by what was seen last; nothing was as long as all looks failed. */
  readonly limitMs: (seen: T | undefined) => number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tells when there is reason to look before the pause is over. */
  readonly nudge?: WakeUp | undefined;
  /** A number from 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined;
  /** Told after every look that was not the last, with the pause before the next one. */
  readonly onLook?: ((glance: PollResult<T>, nextMs: number) => void) | undefined;
}

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response'] as const;

/**
 * Looks at once and then less and less often, until what is seen is done or the time is up, and resolves to what was
 * seen last. Outages do not end the wait.
 */
export async function pollUntil<T>(looking: PollOptions<T>): Promise<T | undefined> {
  const { isDone, limitMs, clock, signal, random = Math.random, onLook } = looking;
  const started = clock.now();
  let last: T | undefined;
  for (let look = 0; ; look += 1) {
    const glance = await pollResultOf(looking);
    if ('seen' in glance) {
      last = glance.seen;
      if (isDone(last)) return last;
    }
    const waitedMs = clock.now() - started;
    const nextMs = Math.min(nextPollDelay(look, waitedMs, random), limitMs(last) - waitedMs);
    if (nextMs <= 0) return last;
    onLook?.(glance, nextMs);
    await pause(clock, nextMs, signal, looking.nudge);
  }
}

async function pollResultOf<T>({ look }: PollOptions<T>): Promise<PollResult<T>> {
  try {
    return { seen: await look() };
  } catch (error) {
    if (isSvcError(error, ...OUTAGE)) return { reason: error.message };
    throw error;
  }
}

/** Resolves when there is reason to look at once, or when the signal aborts. Asked anew for each pause. */
export type WakeUp = (signal: AbortSignal) => Promise<void>;

/**
 * Waits before the next look: `ms` milliseconds, or less when a nudge comes. A nudge is a hint and no more: what
 * counts is what the look finds.
 * @throws the signal's reason when it aborts
 */
export async function pause(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  nudge: WakeUp | undefined,
): Promise<void> {
  if (nudge === undefined) return clock.sleep(ms, signal);
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([clock.sleep(ms, ended), nudge(ended)]);
    signal.throwIfAborted();
  } finally {
    over.abort();
  }
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * How long to wait before looking at jobs again, by how long they have been waited for: a first look soon,
 * since a test tenant is done in seconds; then 5 s growing to a minute within the first hour, and to five
 * minutes for the days that a production job takes. With up to a fifth of jitter, so that jobs started
 * together do not look together.
 * @param look how many looks were made so far
 * @param waited milliseconds since the first of them
 * @returns milliseconds
 */
export function nextPollDelay(look: number, waited: number, random: () => number): number {
  const ceiling = waited < 60 * MINUTE ? MINUTE : 5 * MINUTE;
  const base = look === 0 ? 2 * SECOND : Math.min(ceiling, 5 * SECOND * 1.3 ** (look - 1));
  return Math.round(base * (1 + 0.2 * random()));
}
