import { type LogOddity, oddityOf } from '../../api/logs.ts';
import type { Context } from '../../app/command.ts';
import { MAX_DEPTH } from '../../json/source.ts';
import type { Coverage } from '../../logs/archive/coverage.ts';
import { formatNumber, isoTime, parseTime } from '../../output/time.ts';
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

interface Bounds {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

const MOST_GAPS = 5;

/** Says of which parts of the stretch asked for the archive cannot tell. `newer`: how to have what is newer, if at all. */
export function reportGaps(
  { notices, clock }: Context,
  { coverage }: { readonly coverage: Coverage },
  { since = -Infinity, until = Infinity }: Bounds,
  newer: string | undefined,
): void {
  const gaps = coverage.gaps().filter(({ from, to }) => from < until && to > since);
  for (const { from, to } of gaps.slice(0, MOST_GAPS))
    notices.warn(`entries may be missing from ${isoTime(from)} to ${isoTime(to)}`);
  if (gaps.length > MOST_GAPS)
    notices.warn(`and in ${gaps.length - MOST_GAPS} further gaps: 'svc logs verify' lists them`);
  const covered = coverage.covered();
  const [begin, end] = [covered[0]?.from, covered.at(-1)?.to];
  if (begin === undefined || end === undefined) {
    notices.note('the archive covers no time yet');
    return;
  }
  if (since !== -Infinity && since < begin) notices.note(`the archive begins at ${isoTime(begin)}`);
  if (newer !== undefined && Math.min(until, clock.now()) > end)
    notices.note(`the archive ends at ${isoTime(end)}; ${newer}`);
}
