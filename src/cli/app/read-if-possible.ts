import type { SvcError } from '../../base/errors.ts';
import { bestEffort } from '../../client/http/best-effort.ts';
import type { Context } from './command.ts';

/**
 * Reads optional data, such as a remote ledger, and gives up after a short time. Returns the error if the read fails.
 * `Client.bestEffort` does the same for requests to the service.
 */
export function readIfPossible<T>(context: Context, read: (context: Context) => Promise<T>): Promise<T | SvcError> {
  return bestEffort(context, (timeLimit) =>
    read({
      ...context,
      signal: AbortSignal.any([context.signal, timeLimit]),
      // The command does not wait for a retry here, so pauses are not reported.
      trace: (event) => event.kind !== 'wait' && context.trace(event),
    }),
  );
}
