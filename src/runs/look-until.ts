import type { Clock } from '../clock.ts';
import { isSvcError } from '../errors.ts';
import { nextLookMs } from './looks.ts';
import { type Nudge, pause } from './pause.ts';

/** What was seen at one look, or why nothing was. */
export type Glance<T> = { readonly seen: T } | { readonly reason: string };

/** How to look at something until it is as it should be. */
export interface Looking<T> {
  readonly look: () => Promise<T>;
  readonly isDone: (seen: T) => boolean;
  /** The longest wait in milliseconds, by what was seen last; nothing was as long as all looks failed. */
  readonly limitMs: (seen: T | undefined) => number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tells when there is reason to look before the pause is over. */
  readonly nudge?: Nudge | undefined;
  /** A number from 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined;
  /** Told after every look that was not the last, with the pause before the next one. */
  readonly onLook?: ((glance: Glance<T>, nextMs: number) => void) | undefined;
}

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_answer'] as const;

/**
 * Looks at once and then less and less often, until what is seen is done or the time is up, and resolves to what was
 * seen last. Outages do not end the wait.
 */
export async function lookUntil<T>(looking: Looking<T>): Promise<T | undefined> {
  const { isDone, limitMs, clock, signal, random = Math.random, onLook } = looking;
  const started = clock.now();
  let last: T | undefined;
  for (let look = 0; ; look += 1) {
    const glance = await glanceOf(looking);
    if ('seen' in glance) {
      last = glance.seen;
      if (isDone(last)) return last;
    }
    const waitedMs = clock.now() - started;
    const nextMs = Math.min(nextLookMs(look, waitedMs, random), limitMs(last) - waitedMs);
    if (nextMs <= 0) return last;
    onLook?.(glance, nextMs);
    await pause(clock, nextMs, signal, looking.nudge);
  }
}

async function glanceOf<T>({ look }: Looking<T>): Promise<Glance<T>> {
  try {
    return { seen: await look() };
  } catch (error) {
    if (isSvcError(error, ...OUTAGE)) return { reason: error.message };
    throw error;
  }
}
