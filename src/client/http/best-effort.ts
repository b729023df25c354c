import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Trace } from './exchange.ts';
import { BEST_EFFORT_MS } from './retry.ts';

interface BestEffortHost {
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

/**
 * Runs optional reads, which only add details to the output of a command. Optional reads never fail the command, and all
 * together delay the command by at most 2 s. Only the trace reports a failure. `over` aborts when the time is over.
 * @returns the result of `read`, or its error
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
    // The command's own time limit ends these reads too. The command then prints its output without them.
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
