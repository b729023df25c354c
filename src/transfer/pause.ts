import type { Clock } from '../clock.ts';
import { SvcError } from '../errors.ts';
import { backoffMs } from '../http/retry.ts';
import { longPause, retryAfterMs } from '../http/retry-after.ts';

/** How a transfer waits between attempts. */
export interface Patience {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  /** Longest single pause that a store may ask for, in milliseconds; 90 s unless told otherwise. */
  readonly maxWaitMs?: number | undefined;
}

/** An attempt that failed and may be repeated: the error if it was the last, and what the store asked for. */
export interface Setback {
  readonly error: SvcError;
  readonly retryAfter?: string | undefined;
}

/** Waits before attempt `failed + 1`: full jitter on top of what the store asked for. @throws SvcError `rate_limited` */
export async function pause(patience: Patience, failed: number, setback: Setback): Promise<void> {
  const asked = retryAfterMs(setback.retryAfter, patience.clock.now()) ?? 0;
  if (asked > (patience.maxWaitMs ?? 90_000)) {
    const { words, hint, facts } = longPause(asked);
    throw new SvcError('rate_limited', `${setback.error.message}, and asks to wait ${words}`, {
      status: setback.error.status,
      requestId: setback.error.requestId,
      hint,
      facts,
    });
  }
  await patience.clock.sleep(asked + backoffMs(failed, patience.random ?? Math.random), patience.signal);
}
