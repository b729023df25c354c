// Checks that a signed review matches its archive.

import { isDeepStrictEqual } from 'node:util';
import { isoTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { type Coverage, isoMissing } from '../archive/records/coverage.ts';
import type { ArchiveRecord, ReviewContent, ReviewRecord } from '../archive/records/record.ts';

/** What the records before a review say. */
interface BeforeReview {
  /** The previous record. */
  readonly before: Pick<ArchiveRecord, 'position'>;
  readonly coverage: Coverage;
  /** The hashes of the records, by their numbers. */
  readonly hashes: readonly string[];
  /** The number of entries of the reviewed days in the listed segments. */
  readonly entries: number;
  /** The number of entries without a readable time in the listed segments, which a review can count too. */
  readonly timeless: number;
  readonly earlier: readonly ReviewContent[];
}

/** Returns what shows that svc did not write a review, or that it is about another archive, state or day. */
export function reviewProblems(
  { segments, index, read_from, read_to, position, review, written_at }: ReviewRecord & Pick<ArchiveRecord, 'position'>,
  { before, coverage, hashes, entries, timeless, earlier }: BeforeReview,
): string[] {
  const { from, to } = review;
  const until = untilDay(to);
  const end = Date.parse(before.position.read_to);
  const isStill =
    isDeepStrictEqual(position, before.position) && [read_from, read_to].every((at) => at === isoTime(end));
  const isOfDay = review.of === 'day';
  const dayFacts = [
    ...(from === to ? [] : ['it reviews several days as one']),
    ...(until > end ? [`it reviews ${to}, which was not completely archived`] : []),
    ...(Date.parse(written_at) < until ? [`it was signed before ${to} was over`] : []),
  ];
  return [
    ...(segments.length === 0 && index === undefined ? [] : ['a review cannot add files']),
    ...(isStill ? [] : ['it moves the end of the archive, which a review does not']),
    ...(from <= to ? [] : ['its first day is after its last']),
    ...(isOfDay ? dayFacts : []),
    ...(hashes[review.record] === review.record_sha256 ? [] : ['it is about a record that this archive does not have']),
    ...(entries === review.entries
      ? []
      : [
          `it reviews ${countText(review.entries, 'entry')}; the records before it list ${countText(entries, 'entry')}`,
        ]),
    ...(isDeepStrictEqual(review.missing, missingOf(coverage, review))
      ? []
      : ['it does not state what the archive lacked']),
    ...(contradictsItself(review, timeless) ? ['its numbers of findings contradict each other'] : []),
    ...(earlier.some((other) => isDeepStrictEqual(other, review)) ? ['it repeats an earlier review'] : []),
  ];
}

/** Whether findings have fewer entries than groups, or more than were reviewed, or are counted for other kinds. */
function contradictsItself({ findings, findings_entries: counts, entries }: ReviewContent, timeless: number): boolean {
  if (counts === undefined) return false;
  const kinds = Object.keys(findings);
  return (
    kinds.length !== Object.keys(counts).length ||
    kinds.some((kind) => {
      const [found, inEntries] = [findings[kind], counts[kind]];
      if (typeof found !== 'number' || typeof inEntries !== 'number') return found !== inEntries;
      return inEntries < found || inEntries > entries + timeless;
    })
  );
}

/** Returns the parts of reviewed days that an archive does not cover, except those after its end. */
export function missingOf(coverage: Coverage, { from, to }: Pick<ReviewContent, 'from' | 'to'>) {
  return coverage
    .missing({ from: Date.parse(from), to: untilDay(to) })
    .filter(({ reason }) => reason !== 'not archived yet')
    .map(isoMissing);
}

/** Returns the end of a day in epoch milliseconds. */
export function untilDay(day: string): number {
  return Date.parse(day) + DAY_MS;
}
