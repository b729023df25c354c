// Counts what a review found.

import { countText, formatNumber } from '../../cli/output/number.ts';
import { type DayFindings, MIN_PAST_DAYS, MAX_GROUPS, PAST_DAYS, type ReviewRow } from './review.ts';

/** A number for each kind of finding; null for a kind that could not be judged. */
export type Counts<Kind extends string = string> = Readonly<Record<Kind, number | null>>;

/** The kinds of findings of a day. */
type FindingKind = 'deletions' | 'changes' | 'new_actors' | 'new_operations';

/** The findings of a day or of an access review, counted. */
interface CountedFindings<Kind extends string = string> {
  /**
   * Deletions and changes: groups of entries with the same type, operation and actor, of which 1,001 stand for any larger
   * number. Other kinds: actors or operations.
   */
  readonly findings: Counts<Kind>;
  /** The number of log entries of each kind. Reviews of access do not have it. */
  readonly findings_entries?: Counts<Kind> | null | undefined;
}

/** The findings of a day, counted. */
export type DayCounts = Readonly<Record<'findings' | 'findings_entries', Counts<FindingKind>>>;

/** Counts the findings of a day: the numbers that every page, message and record shows. */
export function countFindings(day: Pick<DayFindings, FindingKind>): DayCounts {
  const ofEach = (count: (rows: readonly ReviewRow[]) => number): Counts<FindingKind> => {
    const of = (kind: FindingKind): number | null => (day[kind] === null ? null : count(day[kind]));
    const [deletions, changes] = [of('deletions'), of('changes')];
    return { deletions, changes, new_actors: of('new_actors'), new_operations: of('new_operations') };
  };
  return {
    findings: ofEach((rows) => rows.length),
    findings_entries: ofEach((rows) => rows.reduce((sum, { count }) => sum + count, 0)),
  };
}

/** Whether there is any finding. */
export function hasFindings({ findings }: CountedFindings): boolean {
  return Object.values(findings).some((count) => count !== null && count > 0);
}

/** Returns the numbers of all kinds: `deletions 42 in 12 groups, new actors unknown`. */
export function findingsText(counted: CountedFindings): string {
  const kinds = Object.keys(counted.findings);
  return kinds.map((kind) => `${kind.replaceAll('_', ' ')} ${findingText(counted, kind)}`).join(', ');
}

/** Like `findingsText`, but only the kinds of which there are some; `none` without any. */
export function foundText({ findings, findings_entries }: CountedFindings): string {
  const some = Object.entries(findings).filter(([, count]) => count !== 0 && count !== null);
  return some.length === 0 ? 'none' : findingsText({ findings: Object.fromEntries(some), findings_entries });
}

/** The kinds whose findings are entries. Each of the others is about an actor or an operation. */
const OF_ENTRIES: ReadonlySet<string> = new Set<FindingKind>(['deletions', 'changes']);

/** Returns the number of one kind: `42 in 12 groups`, `3 with 15 entries`, `unknown`. */
function findingText<Kind extends string>(counted: CountedFindings<Kind>, kind: NoInfer<Kind>): string {
  const { findings, findings_entries: entries } = counted;
  const count = findings[kind] ?? null;
  const inEntries = entries?.[kind] ?? null;
  if (count === null) return 'unknown';
  if (count === 0) return '0';
  if (OF_ENTRIES.has(kind)) {
    const groups = count > MAX_GROUPS ? `more than ${countText(MAX_GROUPS, 'group')}` : countText(count, 'group');
    if (inEntries === null) return groups;
    return inEntries === count && count <= MAX_GROUPS ? formatNumber(count) : `${formatNumber(inEntries)} in ${groups}`;
  }
  return inEntries === null ? formatNumber(count) : `${formatNumber(count)} with ${countText(inEntries, 'entry')}`;
}

/** The findings of a day or of a shift, counted. */
export type Findings = Pick<DayFindings, FindingKind | 'past_days'> & DayCounts;

/** The parts of a review that are lists of entries, with the sentences for empty ones. */
const REVIEW_PARTS = [
  ['deletions', 'Deletions', 'nothing was deleted'],
  ['changes', 'Changes of applications, keys and tenant', 'nothing of these was changed'],
  ['new_actors', `Actors not seen in the ${PAST_DAYS} days before`, 'no new actors'],
  ['new_operations', `Operations not seen in the ${PAST_DAYS} days before`, 'no new operations'],
] as const satisfies readonly Part[];

/** A part with its heading, and the sentence for none. */
export type Part = readonly [name: FindingKind, heading: string, nothing: string];

/** Returns the parts of a review, with another sentence for no findings where some time or entries are missing. */
export function partsSaying(none: string | undefined): Part[] {
  return REVIEW_PARTS.map(([name, heading, nothing]) => [name, heading, none ?? nothing]);
}

/** Returns why nothing is called new. */
export function skippedText({ past_days: days }: Pick<Findings, 'past_days'>): string {
  return days < MIN_PAST_DAYS
    ? `skipped: ${MIN_PAST_DAYS} of the ${PAST_DAYS} days before are needed, ${formatNumber(days)} are archived`
    : 'skipped: too many different ones to compare';
}

/** Returns the heading of a part, with the number of its findings if there are any. */
export function headingOf(title: string, name: Part[0], review: DayCounts): string {
  if (!review.findings[name]) return title;
  const entries = name === 'deletions' || name === 'changes' ? review.findings_entries[name] : null;
  return `${title}: ${typeof entries === 'number' ? formatNumber(entries) : findingText(review, name)}`;
}
