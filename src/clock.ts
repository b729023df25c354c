/** Time as the tool sees it: real in the process, moved by hand in tests. All values in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), sleep };

// A timer over 24.8 days fires at once, so a long sleep is taken in slices.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS)
    await slice(Math.min(left, LONGEST_TIMER_MS), signal);
}

async function slice(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
