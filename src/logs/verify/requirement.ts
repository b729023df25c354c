import type { TimeRange } from '../entry.ts';
import type { Coverage, MissingRange } from '../archive/records/coverage.ts';

/** The time ranges that an archive has to cover. Times are epoch milliseconds. */
export interface Requirement {
  readonly now: number;
  /** The longest accepted time since the log was last read. */
  readonly maxAgeMs: number;
  /** The time since which everything must be archived. Without it, only the end of the archive is checked. */
  readonly since: number | undefined;
}

/** Returns the required ranges that an archive does not cover, in order. */
export function missingFrom(coverage: Coverage, { now, maxAgeMs, since }: Requirement): MissingRange[] {
  const end = coverage.covered().at(-1)?.to;
  // An end in the future shows a wrong clock. Until that time is reached, even a stopped archive would seem current.
  if (end !== undefined && end > now + maxAgeMs) return [{ from: now, to: end, reason: "after this machine's time" }];
  const oldest = Math.max(0, now - maxAgeMs);
  const isStale = end === undefined || end < oldest || (since !== undefined && end < since);
  // A run that ended after it recorded a gap has left that gap at the end, behind what is covered.
  const recordedTo = since === undefined ? end : coverage.whole()?.to;
  const required: TimeRange = { from: Math.max(0, since ?? end ?? oldest), to: isStale ? now : (recordedTo ?? now) };
  return coverage.missing(required);
}
