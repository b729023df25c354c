import type { Clock } from './system.ts';

/** Resolves to the result of `work`, or to 'over' after `ms` milliseconds. Does not cancel the work. */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<T | 'over'> {
  const done = new AbortController();
  const over = clock.sleep(ms, AbortSignal.any([done.signal, ...(signal ? [signal] : [])]));
  try {
    return await Promise.race([work, over.then(() => 'over' as const)]);
  } finally {
    done.abort();
    // Rejections after the race are irrelevant.
    over.catch(() => undefined);
    work.catch(() => undefined);
  }
}
