import { SvcError } from '../errors.ts';
import { formatDuration } from '../render/time.ts';

const HOUR_MS = 3_600_000;

/** How long until the service forgets entries that are not archived; negative where it already may have. Milliseconds. */
export function marginMs(readTo: number, retentionMs: number, now: number): number {
  return readTo + retentionMs - now;
}

/** A margin in hours, to the hundredth. */
export function marginHours(ms: number): number {
  return Math.round((ms / HOUR_MS) * 100) / 100;
}

/** A margin in words. */
function marginWords(ms: number): string {
  return ms <= 0
    ? 'entries that are not archived may already have been forgotten'
    : `${formatDuration(ms)} are left before entries that are not archived are forgotten`;
}

/** The failure of a run, with how much time is left to mend it. */
export function withMargin(error: SvcError, ms: number): SvcError {
  const { code, message, hint, status, requestId, retryable, facts, cause } = error;
  const words = marginWords(ms);
  return new SvcError(code, message, {
    hint: [hint, `${words.charAt(0).toUpperCase()}${words.slice(1)}.`].filter(Boolean).join(' '),
    status,
    requestId,
    retryable,
    facts: { ...facts, hours_left: marginHours(ms) },
    cause,
  });
}

/** Refuses a margin that was smaller than asked for. @throws SvcError `threshold` */
export function checkMargin(beforeMs: number, askedMs: number): void {
  if (beforeMs >= askedMs) return;
  const left = beforeMs <= 0 ? 'nothing was' : `only ${formatDuration(beforeMs)} were`;
  throw new SvcError(
    'threshold',
    `${left} left when this run began, and --retention-margin asks for ${formatDuration(askedMs)}`,
    {
      hint: 'The archive is up to date now. Run the command more often.',
      facts: { hours_left_before: marginHours(beforeMs), retention_margin_hours: marginHours(askedMs) },
    },
  );
}
