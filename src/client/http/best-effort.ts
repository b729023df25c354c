// Makes optional reads, which neither fail nor delay a command.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Trace } from './trace.ts';

/** How long a command waits for all its optional reads together, in milliseconds (R86). */
const BEST_EFFORT_MS = 2_000;

interface BestEffortHost {
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

/**
 * Makes optional reads, which only add details to the output of a command. All reads together delay the command by at most 2 s,
 * after which `over` aborts. Only the trace reports a failure.
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
