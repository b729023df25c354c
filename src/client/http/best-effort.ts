import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Trace } from './exchange.ts';
import { BEST_EFFORT_MS } from './retry.ts';

interface BestEffortHost {
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

/**
 * Runs reads that only add to what a command prints. They neither fail nor delay the command: all together take at most
 * 2 s, and only the trace reports a failure. `over` aborts when their time is over.
 * @returns what `read` returns, or its error
 */
export async function bestEffort<T>(
  { signal, trace }: BestEffortHost,
  read: (over: AbortSignal) => Promise<T>,
): Promise<T | SvcError> {
  const over = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason as Error));
  });
  const timer = setTimeout(() => over.abort(tooSlow()), BEST_EFFORT_MS);
  try {
    return await Promise.race([read(over.signal), ended]);
  } catch (error) {
    // The command's own time limit ends these reads too, and what it has to print is already here.
    if (!isSvcError(signal.reason, 'timeout')) signal.throwIfAborted();
    if (!isSvcError(error)) throw error;
    trace?.({ kind: 'done without', reason: error.message });
    return error;
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): SvcError {
  return new SvcError('timeout', `no response within ${BEST_EFFORT_MS / 1_000} s`);
}
