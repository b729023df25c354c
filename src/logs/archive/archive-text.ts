import type { Context } from '../../cli/app/command.ts';
import { countText, formatPercent, utcTime } from '../../cli/output/time.ts';
import type { TimeCoverage } from './records/coverage.ts';
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

const MOST_RANGES = 5;

/** Reports how much of a time is covered, and the first missing ranges as warnings. */
export function reportCoverage(
  { notices }: Pick<Context, 'notices'>,
  covered: TimeCoverage,
  missing: readonly MissingText[],
): void {
  if (missing.length === 0) return notices.note(`the archive covers ${coverageText(covered)}`);
  notices.warn(`the archive covers only ${coverageText(covered)}; entries may be missing:`);
  for (const range of missing.slice(0, MOST_RANGES)) notices.warn(missingText(range));
  if (missing.length > MOST_RANGES) notices.warn(`and in ${countText(missing.length - MOST_RANGES, 'further range')}`);
}

/** Returns who signed a review: the given name, and the account that ran the command if that is another. */
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
