import { parseTime } from '../cli/output/time.ts';
import type { Page } from '../client/api/pages.ts';
import { MINUTE_MS } from '../schema/durations.ts';
import type { Log } from '../schema/log.ts';
import type { TimeRange } from './entry.ts';

/** How far outside the requested time an entry must be to count: times may be sent and compared without fractions. */
const LEEWAY_MS = 1_000;
/** How far behind the requested time a list in order must be before its rest is left unread: entries may arrive late. */
const LATE_MS = 10 * MINUTE_MS;

/**
 * Yields the pages of a list of a time range. A service, or a cache before it, that ignores `start_date` and `end_date`
 * sends entries outside the range. They are left out, and a list in order of time ends after the range.
 */
export async function* sifted(
  pages: AsyncIterable<Page<Log>>,
  range: TimeRange,
  onIgnored?: () => void,
): AsyncGenerator<Page<Log>> {
  const order = new PageOrder();
  let isIgnored = false;
  for await (const page of pages) {
    const times = page.items.map(({ created_at: created }) => parseTime(created));
    order.add(times);
    const isOutside = times.map(
      (at) => at !== undefined && (at < range.from - LEEWAY_MS || at >= range.to + LEEWAY_MS),
    );
    if (!isIgnored && isOutside.includes(true)) {
      isIgnored = true;
      onIgnored?.();
    }
    if (!isIgnored) {
      yield page;
      continue;
    }
    const isOver = order.isBehind(times, range);
    const items = page.items.filter((_, at) => isOutside[at] === false);
    yield { ...page, items, isSifted: true, ...(isOver && { next: undefined }) };
    if (isOver) return;
  }
}

type Times = readonly (number | undefined)[];

/** The order of a list, as far as its pages show it. */
class PageOrder {
  #isOlder = true;
  #isNewer = true;
  #last: number | undefined;

  add(times: Times): void {
    for (const at of times) {
      if (at === undefined) continue;
      if (this.#last !== undefined && at > this.#last) this.#isOlder = false;
      if (this.#last !== undefined && at < this.#last) this.#isNewer = false;
      this.#last = at;
    }
  }

  /** Whether all entries of a page, and therefore of the pages after it, are beyond the range. */
  isBehind(times: Times, { from, to }: TimeRange): boolean {
    if (times.length === 0 || this.#isOlder === this.#isNewer) return false;
    return times.every((at) => at !== undefined && (this.#isOlder ? at < from - LATE_MS : at >= to + LATE_MS));
  }
}
