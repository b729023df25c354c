import type { Clock } from '../clock.ts';

/** Resolves when there is reason to look at once, or when the signal aborts. Asked anew for each pause. */
export type Nudge = (signal: AbortSignal) => Promise<void>;

/**
 * Waits before the next look: `ms` milliseconds, or less when a nudge comes. A nudge is a hint and no more: what
 * counts is what the look finds.
 * @throws the signal's reason when it aborts
 */
export async function pause(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  nudge: Nudge | undefined,
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
