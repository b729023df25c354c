import { type LogOddity, oddityOf } from '../../api/log-entry.ts';
import type { Context } from '../../cli/context.ts';
import { MAX_DEPTH } from '../../json-source.ts';
import { formatNumber } from '../../render/quantity.ts';
import { parseTime } from '../../render/time.ts';
import type { Log } from '../../schema/log.ts';

type Oddity = LogOddity | 'no time';

const WORDS: Readonly<Record<Oddity, string>> = {
  'no time': 'without a time that can be read (created_at)',
  'too deep': `nested more than ${MAX_DEPTH} levels deep`,
  'other types': 'with fields of other types than documented',
  'not an object': 'that are no objects',
};

/** Counts entries that are not as the service promises. They are kept like all others. */
export class OddEntries {
  readonly #counts = new Map<Oddity, number>();

  /** Passes on batches, and counts what goes by. */
  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const logs of batches) {
      for (const log of logs) this.add(log);
      yield logs;
    }
  }

  add(log: Log): void {
    const oddity = oddityOf(log) ?? (parseTime(log.created_at) === undefined ? 'no time' : undefined);
    if (oddity !== undefined) this.#counts.set(oddity, (this.#counts.get(oddity) ?? 0) + 1);
  }

  /** Says how many there were of each sort. */
  warn({ notices }: Pick<Context, 'notices'>): void {
    for (const [oddity, count] of this.#counts)
      notices.warn(`entries ${WORDS[oddity]}: ${formatNumber(count)}, kept as the service sent them`);
  }
}
