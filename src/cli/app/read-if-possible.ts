import type { SvcError } from '../../base/errors.ts';
import { bestEffort } from '../../client/http/best-effort.ts';
import type { Context } from './command.ts';

/**
 * Runs reads of a place such as a ledger that only add to what a command prints, as `Client.bestEffort` does with those of
 * the service. `read` gets a context whose signal ends them in time.
 */
export function readIfPossible<T>(context: Context, read: (context: Context) => Promise<T>): Promise<T | SvcError> {
  return bestEffort(context, (over) =>
    read({
      ...context,
      signal: AbortSignal.any([context.signal, over]),
      // A pause before another attempt does not delay the command, so that it is not reported.
      trace: (event) => event.kind !== 'wait' && context.trace(event),
    }),
  );
}
