import type { Page } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import type { ServiceInterval } from '../service-interval.ts';

/**
 * Yields the pages of a list of a time range. If the first response shows that this machine's clock is wrong, the list starts
 * over with the right times, and once more if the second response differs. A list that begins at a cursor keeps its times.
 * @throws SvcError `usage` for a range after the service's time
 */
export async function* pagesByServiceTime(
  interval: ServiceInterval,
  read: () => AsyncGenerator<Page<Log>>,
  isAtCursor: boolean,
): AsyncGenerator<Page<Log>> {
  for (;;) {
    const pages = read();
    try {
      const first = await pages.next();
      if (!isAtCursor && interval.settle()) continue;
      if (!isAtCursor) interval.requireBegun();
      if (first.done === true) return;
      yield first.value;
      return yield* pages;
    } finally {
      await pages.return(undefined);
    }
  }
}
