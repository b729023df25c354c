// The review of a day, as a report.

import { utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { type MissingText, missingWarning, signerText } from '../archive/archive-text.ts';
import type { Sentence } from '../sentences.ts';
import { type DeletedEntity, timelessWarnings } from './deleted.ts';
import { type Counts, type DayCounts, partsSaying } from './findings.ts';
import type { Report, ReportWords } from './report.ts';
import { type DayFindings, isDayMissing } from './review.ts';
import { deletedSections, findingSections, hourSection } from './sections.ts';

/** The review of a day in an archive. */
export interface Review extends DayFindings, DayCounts {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  readonly day: string;
  /** The first thousand deletions of the day. */
  readonly deleted: readonly DeletedEntity[];
  /** The hash of everything about the day, which a signed review records. It does not depend on the location. */
  readonly sha256: string;
  readonly signed: readonly ReviewSignature[];
  /** The newest record of the archive, and its hash. */
  readonly record: number;
  readonly record_sha256: string;
}

/** A signed review of the day. */
export interface ReviewSignature {
  readonly record: number;
  readonly signed_at: string;
  readonly by: string;
  readonly account: string;
  readonly note: string | null;
  /** What was found, as it was recorded: groups and entries. */
  readonly findings: Counts;
  readonly findings_entries: Counts | null;
  /** The hash of the page that was written then. */
  readonly page_sha256: string | null;
  /** Whether the archive still has the same content for the day as when it was signed. */
  readonly is_current: boolean;
}

/** Returns the review of a day for people. `madeAt` is in epoch milliseconds. */
export function reviewReport(
  review: Review,
  words: ReportWords,
  { madeAt, isVerbose = false }: { readonly madeAt: number; readonly isVerbose?: boolean },
): Report {
  const none = isDayMissing(review.missing) ? 'unknown: nothing of this day is archived' : 'none in what is archived';
  return {
    title: `Log review of ${review.day} (UTC)`,
    sentences: [
      subjectText(review),
      ...missingSentences(review.missing, 'the archive covers the whole day'),
      ...timelessWarnings(review).map((text): Sentence => ['warn', text]),
      ...review.signed.map((signature) => signatureSentence(signature, review)),
    ],
    source: [sourceText(review.archive, madeAt), `SHA-256 of what is reviewed here: ${review.sha256}`],
    sections: [
      ...findingSections(review, partsSaying(review.missing.length > 0 ? none : undefined), words, isVerbose),
      hourSection(Date.parse(review.day), review),
      ...deletedSections(review.deleted, review, words, isVerbose),
    ],
  };
}

/** Returns whose entries were counted, and how many. The tenant is undefined if no entry was read. */
export function subjectText({
  entries,
  tenant_id: tenant,
  service,
}: {
  readonly entries: number;
  readonly tenant_id: string | undefined;
  readonly service: string;
}): string {
  return `${countText(entries, 'log entry')}${tenant === undefined ? '' : ` of tenant ${tenant}`} at ${service}`;
}

/** Returns where a page comes from. */
export function sourceText(archive: string | undefined, madeAt: number): string {
  return `${archive === undefined ? 'Read from the service' : `Archive ${archive}`}, made ${utcTime(madeAt)}`;
}

/** Returns the ranges in which entries may be missing; the given words if there are none. */
export function missingSentences(missing: readonly MissingText[], nothing: string): Sentence[] {
  if (missing.length === 0) return [['good', nothing]];
  return missing.map((range) => ['warn', missingWarning(range)]);
}

/** Says who signed a review of the day, and whether the archive has changed since. */
function signatureSentence(
  { by, account, note, signed_at: at, is_current: isCurrent }: ReviewSignature,
  { missing }: Pick<Review, 'missing'>,
): Sentence {
  const words = `signed off by ${signerText({ by, account })} at ${utcTime(at)}${note === null ? '' : `: ${note}`}`;
  if (isCurrent) return ['good', words];
  const isDropped = missing.some(({ reason }) => reason === 'dropped by retention');
  return [
    'warn',
    `${words}; ${isDropped ? 'retention has dropped its entries since' : 'the archive has other entries now'}`,
  ];
}
