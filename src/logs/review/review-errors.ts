import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration, isoTime, utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { foundText, hasFindings } from './count-findings.ts';
import type { Review } from './page.ts';
import type { DayStatus } from './status.ts';

/** The time that a day lacks, RFC 3339, and why. */
type LackingRange = Readonly<Record<'from' | 'to' | 'reason', string>>;

/** The error for a day that is not completely archived, so that it cannot be judged. */
export function incompleteDay(review: Review, range: LackingRange): SvcError {
  return incomplete(review, range, '');
}

/** The error for a day that is not completely archived, so that it cannot be signed off. */
export function unsignedDay(review: Review, range: LackingRange): SvcError {
  return incomplete(review, range, 'nothing was signed off: ');
}

function incomplete(review: Review, { from, to, reason }: LackingRange, before: string): SvcError {
  const { archive, day: date, missing, findings, findings_entries } = review;
  const words = `${archive} does not cover all of ${date}: nothing from ${utcTime(from)} to ${utcTime(to)} (${reason})`;
  const rest = hasFindings(review) ? `; findings to look at in the rest: ${foundText(review)}` : '';
  return new SvcError('entries_missing', `${before}${words}${rest}`, {
    hint: 'Update the archive and review the day again; a gap stays one.',
    next: ['logs', 'archive', archive],
    facts: { missing, findings, findings_entries },
  });
}

/** The error for a day with findings. */
export function findingsFound(review: Review): SvcError {
  const { archive, day: date, findings, findings_entries } = review;
  const isSigned = review.signed.some(({ is_current: isCurrent }) => isCurrent);
  const signing = ['logs', 'review', archive, '--day', date, '--sign-off'];
  return new SvcError('threshold', `${date} has findings to look at: ${foundText(review)}`, {
    hint: isSigned
      ? 'The day is signed off; see the entries themselves.'
      : 'See the entries themselves, then sign the day off.',
    next: ['logs', 'search', archive, '--since', date, '--until', isoTime(Date.parse(date) + DAY_MS).slice(0, 10)],
    alternatives: isSigned ? [] : [signing],
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
