import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration, isoTime, utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { foundText, hasFindings } from './findings.ts';
import type { Review } from './review-page.ts';
import type { DayStatus } from './status.ts';

/** The time that a day lacks, RFC 3339, and why. */
type LackingRange = Readonly<Record<'from' | 'to' | 'reason', string>>;

/** The error for a day that is not completely archived, so that it cannot be judged. */
export function incompleteDay(review: Review, range: LackingRange, now: number): SvcError {
  return incomplete(review, range, '', range.reason === 'not archived yet' ? updating(review) : nextStep(review, now));
}

/** The error for a day that is not completely archived, so that it cannot be signed off. */
export function unsignedDay(review: Review, range: LackingRange, now: number): SvcError {
  const isLate = range.reason === 'not archived yet' && endOf(review.day) <= now;
  return incomplete(review, range, 'nothing was signed off: ', isLate ? updating(review) : nextStep(review, now));
}

/** What to do about an error: a hint, and the words of a command. */
interface NextStep {
  readonly hint: string;
  readonly next: readonly string[];
}

function incomplete(review: Review, range: LackingRange, before: string, step: NextStep): SvcError {
  const { archive, day: date, missing, findings, findings_entries } = review;
  const { from, to, reason } = range;
  const words = `${archive} does not cover all of ${date}: nothing from ${utcTime(from)} to ${utcTime(to)} (${reason})`;
  const rest = hasFindings(review) ? `; findings to look at in the rest: ${foundText(review)}` : '';
  return new SvcError('entries_missing', `${before}${words}${rest}`, {
    ...step,
    facts: { missing, findings, findings_entries },
  });
}

function updating({ archive }: Review): NextStep {
  return { hint: 'Update the archive and review the day again.', next: ['logs', 'archive', archive] };
}

/** Returns what to do about a day that lacks entries now, and about one that can no longer get them. */
function nextStep({ archive, day: date, missing }: Review, now: number): NextStep {
  if (endOf(date) > now)
    return {
      hint: `Update the archive once the day is over, at ${endText(date)}, then sign it off.`,
      next: ['logs', 'archive', archive],
    };
  const missingMs = missing.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  return missingMs < DAY_MS
    ? {
        hint: 'No later run can add these entries. A sign-off records what is missing.',
        next: signOffOf(archive, date),
      }
    : {
        hint: 'No later run can add this day. The days of the archive:',
        next: ['logs', 'review', archive, '--status'],
      };
}

function endOf(date: string): number {
  return Date.parse(date) + DAY_MS;
}

function endText(date: string): string {
  return utcTime(isoTime(endOf(date)));
}

function signOffOf(archive: string, date: string): readonly string[] {
  return ['logs', 'review', archive, '--day', date, '--sign-off'];
}

/** The error for a day with findings, which `isShown` to a person. A day that is not over cannot be signed off. */
export function findingsFound(review: Review, now: number, isShown: boolean): SvcError {
  const { archive, day: date, findings, findings_entries } = review;
  const isSigned = review.signed.some(({ is_current: isCurrent }) => isCurrent);
  const isOver = endOf(date) <= now;
  const unsigned = isOver
    ? 'Look at each, then sign the day off:'
    : `Look at each. The day can be signed off at ${endText(date)}.`;
  const found = isShown ? '' : `: ${foundText(review)}`;
  return new SvcError('threshold', `${date} has findings to look at${found}`, {
    hint: isSigned ? 'The day is signed off.' : unsigned,
    next: isShown
      ? ['logs', 'review', archive, '--day', date, '--verbose']
      : ['logs', 'search', archive, '--since', date, '--until', isoTime(endOf(date)).slice(0, 10)],
    alternatives: isSigned || !isOver ? [] : [signOffOf(archive, date)],
    facts: { findings, findings_entries },
  });
}

/** The error for days that are open for longer than `within` milliseconds; `first` is the oldest. */
export function daysOpen(archive: string, first: DayStatus, open: readonly DayStatus[], within: number): SvcError {
  const are = `${countText(open.length, 'day')} of ${archive} ${open.length === 1 ? 'is' : 'are'}`;
  return new SvcError('threshold', `${are} open for longer than ${formatDuration(within)}, the first: ${first.day}`, {
    hint: 'Review the days, and sign them off.',
    next: ['logs', 'review', archive, '--day', first.day],
    facts: { open: open.map((one) => one.day) },
  });
}

/** The error for a day that should be in the archive and is not. */
export function archiveStopped(archive: string, { day }: DayStatus): SvcError {
  return new SvcError('entries_missing', `${archive} has nothing of ${day} yet, so nobody can review it`, {
    hint: 'Find out why the archive was not updated, then update it.',
    next: ['logs', 'archive', archive],
    facts: { day },
  });
}
