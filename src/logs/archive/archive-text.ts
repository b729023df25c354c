// Texts about an archive that several commands print: coverage, missing ranges, and who signed a review.

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { utcTime } from '../../cli/output/time.ts';
import { countText, formatPercent } from '../../cli/output/number.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { gapText } from '../sentences.ts';
import type { Bounds } from './manifest.ts';
import type { Coverage, TimeCoverage } from './records/coverage.ts';
import type { DroppedMonth } from './records/record.ts';

/** A range that an archive does not cover, and why. Times are RFC 3339. */
export interface MissingText {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Returns how much of a time is covered, as the script of a bundle prints it too: `11.1% of <time> to <time>`. */
export function coverageText({ from, to, share }: TimeCoverage): string {
  return `${formatPercent(share)} of ${utcTime(from)} to ${utcTime(to)}`;
}

/** Returns a missing range with its reason. */
export function missingText({ from, to, reason }: MissingText): string {
  return `${utcTime(from)} to ${utcTime(to)}: ${reason}`;
}

export function missingWarning(range: MissingText): string {
  return `entries may be missing from ${missingText(range)}`;
}

const MAX_RANGES = 5;

/** Reports how much of a time is covered, and the first missing ranges as warnings. */
export function reportCoverage(
  { notices }: Pick<Context, 'notices'>,
  covered: TimeCoverage,
  missing: readonly MissingText[],
): void {
  if (missing.length === 0) return notices.note(`the archive covers ${coverageText(covered)}`);
  notices.warn(`the archive covers only ${coverageText(covered)}; entries may be missing:`);
  for (const words of firstOf(missing, missingText, 'further range')) notices.warn(words);
}

/** Returns the texts of the first ranges, and the number of the others. */
function firstOf<T>(ranges: readonly T[], wordsOf: (range: T) => string, noun: string): string[] {
  const words = ranges.slice(0, MAX_RANGES).map(wordsOf);
  const rest = ranges.length - words.length;
  return rest === 0 ? words : [...words, `and in ${countText(rest, noun)}`];
}

const MAX_BEHIND_MS = 2 * DAY_MS;

/** How the command reads entries after the end of the archive. */
interface Beyond {
  /** How to get newer entries. */
  readonly newer: string;
  /** Whether the command needs no newer entries, or reads them from the service. */
  readonly isEndEnough: boolean;
  /** Whether the command shows everything from the beginning, of which retention may have dropped a part. */
  readonly isHistory?: boolean | undefined;
}

/** A warning of a time that the archive does not cover. */
export interface UncoveredTime {
  readonly warning: string;
  /** Whether another run of the archive can add it. */
  readonly canBeAdded: boolean;
}

/**
 * Reports the parts of a range that the archive does not cover, and returns the warnings. A typed time outside of the archive
 * also gets a warning, because finding nothing there proves nothing.
 */
export function reportGaps(
  { notices, clock }: Context,
  { coverage }: { readonly coverage: Coverage },
  { since, until }: Bounds,
  { newer, isEndEnough, isHistory = false }: Beyond,
): readonly UncoveredTime[] {
  const uncovered = gapTexts(coverage, { since, until }).map((warning) => ({ warning, canBeAdded: false }));
  const covered = coverage.covered();
  const begin = covered[0]?.from ?? Infinity;
  const end = covered.at(-1)?.to ?? -Infinity;
  // No run of the archive can add entries of the future.
  const canBeAdded = Math.max(since ?? -Infinity, until ?? -Infinity) <= clock.now();
  if (covered.length === 0 && !isEndEnough) uncovered.push({ warning: 'the archive covers no time yet', canBeAdded });
  if (covered.length > 0 && Math.min(since ?? Infinity, until ?? Infinity) < begin)
    uncovered.push({ warning: beginText(begin, coverage), canBeAdded: false });
  // The entity may be younger, so this is no warning.
  const notes = isHistory && covered.length > 0 && coverage.drops.length > 0 ? [beginText(begin, coverage)] : [];
  const behindMs = Math.min(until ?? Infinity, clock.now()) - end;
  const isAfterEnd = since !== undefined && since >= end;
  if (covered.length > 0 && (behindMs > 0 || isAfterEnd) && !isEndEnough) {
    const isTypedAfter = until !== undefined || isAfterEnd;
    // An archive that is updated every hour or day also ends before the present.
    const isOutside = isTypedAfter || behindMs > MAX_BEHIND_MS;
    const advice = since !== undefined && since > clock.now() ? '' : `; ${newer}`;
    const words = `the archive ends at ${utcTime(end)}${advice}`;
    if (isOutside) uncovered.push({ warning: words, canBeAdded });
    else notes.push(words);
  }
  for (const { warning } of uncovered) notices.warn(warning);
  for (const note of notes) notices.note(note);
  return uncovered;
}

function beginText(begin: number, { drops }: Coverage): string {
  return `the archive begins at ${utcTime(begin)}${drops.length > 0 ? ' (older months were dropped by retention)' : ''}`;
}

function gapTexts(coverage: Coverage, { since = -Infinity, until = Infinity }: Bounds): string[] {
  const gaps = coverage.gaps().filter(({ from, to }) => from < until && to > since);
  return firstOf(gaps, gapText, 'further gap');
}

/** @throws SvcError `entries_missing` for a requested time that an archive does not cover, if it `isRequired` */
export function requireCovered(archive: string, uncovered: readonly UncoveredTime[], isRequired: boolean): void {
  const [first] = uncovered;
  if (!isRequired || first === undefined) return;
  const canBeAdded = uncovered.some((time) => time.canBeAdded);
  throw new SvcError('entries_missing', `not all of the requested time is archived: ${first.warning}`, {
    ...uncoveredAdvice(archive, canBeAdded),
    facts: { warnings: uncovered.map(({ warning }) => warning) },
  });
}

/** Returns what to do about a time that an archive does not cover. */
export function uncoveredAdvice(archive: string, canBeAdded: boolean): { hint: string; next: readonly string[] } {
  if (canBeAdded) return { hint: 'Update the archive; a gap stays one.', next: ['logs', 'archive', archive] };
  return {
    hint: 'Another run of the archive cannot add this time. Choose another one; what the archive covers:',
    next: ['logs', 'verify', archive, '--manifest-only'],
  };
}

/** Returns the signer of a review: the given name, and the account that ran the command if it differs. */
export function signerText({ by, account }: Readonly<Record<'by' | 'account', string>>): string {
  return by === account ? by : `${by} (${account})`;
}

/** Sums the counts of dropped months. */
export function sumOfMonths(months: readonly DroppedMonth[]): Record<'segments' | 'entries' | 'bytes', number> {
  const sum = { segments: 0, entries: 0, bytes: 0 };
  for (const { segments, entries, bytes } of months) {
    sum.segments += segments;
    sum.entries += entries;
    sum.bytes += bytes;
  }
  return sum;
}
