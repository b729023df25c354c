import { formatNumber } from '../../cli/output/time.ts';
import { type DayCounts, type FindingKind, findingText } from './count-findings.ts';
import { type DayFindings, LEAST_PAST_DAYS, PAST_DAYS } from './review.ts';

/** The findings of a day or of a shift, counted. */
export type Findings = Pick<DayFindings, FindingKind | 'past_days'> & DayCounts;

/** The parts of a review that are lists of entries, with the sentences for empty ones. */
export const REVIEW_PARTS = [
  ['deletions', 'Deletions', 'nothing was deleted'],
  ['changes', 'Changes of applications, keys and tenant', 'nothing of these was changed'],
  ['new_actors', `Actors not seen in the ${PAST_DAYS} days before`, 'no new actors'],
  ['new_operations', `Operations not seen in the ${PAST_DAYS} days before`, 'no new operations'],
] as const satisfies readonly Part[];

/** A part with its heading, and the sentence for none. */
export type Part = readonly [name: FindingKind, heading: string, nothing: string];

/** Returns why nothing is called new. */
export function skippedText({ past_days: days }: Pick<Findings, 'past_days'>): string {
  return days < LEAST_PAST_DAYS
    ? `skipped: the archive covers ${formatNumber(days)} of the ${PAST_DAYS} days before, and ${LEAST_PAST_DAYS} are needed`
    : 'skipped: too many different ones to compare';
}

/** Returns the heading of a part, with the number of its findings if there are any. */
export function headingOf(title: string, name: Part[0], review: DayCounts): string {
  return review.findings[name] ? `${title}: ${findingText(review, name)}` : title;
}
