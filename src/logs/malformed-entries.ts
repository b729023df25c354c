import { MAX_DEPTH } from '../base/json/source.ts';
import type { Context } from '../cli/app/command.ts';
import { parseTime } from '../cli/output/time.ts';
import { formatNumber } from '../cli/output/number.ts';
import { type Malformation, malformationOf } from '../client/api/logs.ts';
import type { Log } from '../schema/log.ts';

type Problem = Malformation | 'no time';

const DESCRIPTIONS: Readonly<Record<Problem, string>> = {
  'no time': 'without a readable time (created_at)',
  'too deep': `nested more than ${MAX_DEPTH} levels deep`,
  'other types': 'with fields of other types than documented',
  'not an object': 'that are not objects',
};

/** Counts entries that differ from the documented form. They are kept like all others. */
export class MalformedEntries {
  readonly #counts = new Map<Problem, number>();

  add(log: Log): void {
    const problem = malformationOf(log) ?? (parseTime(log.created_at) === undefined ? 'no time' : undefined);
    if (problem !== undefined) this.#counts.set(problem, (this.#counts.get(problem) ?? 0) + 1);
  }

  /** Passes entries on, and counts them. */
  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of batches) {
      for (const log of batch) this.add(log);
      yield batch;
    }
  }

  warn({ notices }: Pick<Context, 'notices'>): void {
    for (const [problem, count] of this.#counts)
      notices.warn(`entries ${DESCRIPTIONS[problem]}: ${formatNumber(count)}, kept as the service sent them`);
  }
}
