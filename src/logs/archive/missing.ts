import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { gapText } from '../sentences.ts';
import type { Bounds } from './manifest.ts';
import type { Coverage } from './records/coverage.ts';

const MAX_GAPS = 5;
const MOST_BEHIND_MS = 2 * DAY_MS;

/** What is read besides the archive, and what the person can do. */
interface Beyond {
  /** How to get newer entries. */
  readonly newer: string;
  /** Whether nothing after the end of the archive is missing: it is read from the service, or nobody asked for it. */
  readonly isEndEnough: boolean;
}

/** A warning of a time that the archive does not cover. */
export interface UncoveredTime {
  readonly warning: string;
  /** Whether another run of the archive can add it. */
  readonly canBeAdded: boolean;
}

/**
 * Reports the parts of a range that the archive does not cover, and returns the warnings. A typed time outside of the archive
 * is one: that nothing was found then proves nothing.
 */
export function reportGaps(
  { notices, clock }: Context,
  { coverage }: { readonly coverage: Coverage },
  { since, until }: Bounds,
  { newer, isEndEnough }: Beyond,
): readonly UncoveredTime[] {
  const uncovered = gapTexts(coverage, { since, until }).map((warning) => ({ warning, canBeAdded: false }));
  const covered = coverage.covered();
  const begin = covered[0]?.from ?? Infinity;
  const end = covered.at(-1)?.to ?? -Infinity;
  if (covered.length === 0 && !isEndEnough)
    uncovered.push({ warning: 'the archive covers no time yet', canBeAdded: true });
  if (covered.length > 0 && Math.min(since ?? Infinity, until ?? Infinity) < begin) {
    const dropped = coverage.drops.length > 0 ? ' (older months were dropped by retention)' : '';
    uncovered.push({ warning: `the archive begins at ${utcTime(begin)}${dropped}`, canBeAdded: false });
  }
  const notes: string[] = [];
  const behindMs = Math.min(until ?? Infinity, clock.now()) - end;
  if (covered.length > 0 && behindMs > 0 && !isEndEnough) {
    const isTypedAfter = until !== undefined || (since !== undefined && since >= end);
    // An archive that is updated every hour or day also ends before the present.
    const isOutside = isTypedAfter || behindMs > MOST_BEHIND_MS;
    const words = `the archive ends at ${utcTime(end)}; ${newer}`;
    // Nothing covers a time that is still to come.
    if (isOutside) uncovered.push({ warning: words, canBeAdded: (until ?? -Infinity) <= clock.now() });
    else notes.push(words);
  }
  for (const { warning } of uncovered) notices.warn(warning);
  for (const note of notes) notices.note(note);
  return uncovered;
}

function gapTexts(coverage: Coverage, { since = -Infinity, until = Infinity }: Bounds): string[] {
  const gaps = coverage.gaps().filter(({ from, to }) => from < until && to > since);
  const texts = gaps.slice(0, MAX_GAPS).map(gapText);
  if (gaps.length > MAX_GAPS) texts.push(`and in ${gaps.length - MAX_GAPS} further gaps`);
  return texts;
}

/** The error for a requested time that an archive does not cover. */
export function notCovered(archive: string, uncovered: readonly UncoveredTime[]): SvcError {
  const warnings = uncovered.map(({ warning }) => warning);
  return new SvcError('entries_missing', `not all of the requested time is archived: ${warnings[0] ?? ''}`, {
    ...uncoveredAdvice(
      archive,
      uncovered.some(({ canBeAdded }) => canBeAdded),
    ),
    facts: { warnings },
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
