import { MAX_DEPTH } from '../base/json/source.ts';
import type { Context } from '../cli/app/command.ts';
import { formatNumber, parseTime } from '../cli/output/time.ts';
import { type LogOddity, oddityOf } from '../client/api/logs.ts';
import type { Log } from '../schema/log.ts';

type Oddity = LogOddity | 'no time';

const ODDITIES: Readonly<Record<Oddity, string>> = {
  'no time': 'without a readable time (created_at)',
  'too deep': `nested more than ${MAX_DEPTH} levels deep`,
  'other types': 'with fields of other types than documented',
  'not an object': 'that are not objects',
};

/** Counts entries that differ from the documented form. They are kept like all others. */
export class OddEntries {
  readonly #counts = new Map<Oddity, number>();

  count(logs: readonly Log[]): void {
    for (const log of logs) {
      const oddity = oddityOf(log) ?? (parseTime(log.created_at) === undefined ? 'no time' : undefined);
      if (oddity !== undefined) this.#counts.set(oddity, (this.#counts.get(oddity) ?? 0) + 1);
    }
  }

  warn({ notices }: Pick<Context, 'notices'>): void {
    for (const [oddity, count] of this.#counts)
      notices.warn(`entries ${ODDITIES[oddity]}: ${formatNumber(count)}, kept as the service sent them`);
  }
}
