import { SvcError } from '../base/errors.ts';
import { formatDuration } from '../cli/output/time.ts';

/**
 * Checks that an overlap is at most half of the retention. With a longer one, a position counts as near the present although
 * the service has forgotten entries after it, and these would be no gap.
 * @throws SvcError `usage`
 */
export function requireShortOverlap(overlapMs: number, retentionMs: number): void {
  if (overlapMs <= retentionMs / 2) return;
  throw new SvcError(
    'usage',
    `an overlap of ${formatDuration(overlapMs)} is more than half of the retention of the logs, ${formatDuration(retentionMs)}`,
    { hint: 'Choose a shorter one: with this one, entries that are lost would not be noticed.' },
  );
}
