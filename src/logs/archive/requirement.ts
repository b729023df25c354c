import type { TimeRange } from '../entry.ts';
import type { Coverage, MissingRange } from './coverage.ts';

/** What an archive has to cover at a time. Times in epoch milliseconds. */
export interface Requirement {
  readonly now: number;
  /** The log must have been read within this time. */
  readonly maxAgeMs: number;
  /** Everything from here on must be archived; without it only the end counts. */
  readonly since: number | undefined;
}

/** What an archive lacks of a requirement, in order. */
export function missingFrom(coverage: Coverage, { now, maxAgeMs, since }: Requirement): MissingRange[] {
  const end = coverage.covered().at(-1)?.to;
  // An end in the future comes from a wrong clock: it would count as fresh for as long as it is ahead.
  if (end !== undefined && end > now + maxAgeMs) return [{ from: now, to: end, reason: "after this machine's time" }];
  const oldest = Math.max(0, now - maxAgeMs);
  const isStale = end === undefined || end < oldest || (since !== undefined && end < since);
  const required: TimeRange = { from: Math.max(0, since ?? end ?? oldest), to: isStale ? now : end };
  return coverage.missing(required);
}
