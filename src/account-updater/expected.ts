import { formatDuration } from '../output/time.ts';
import type { RunPart } from './record.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** What the interface says of a production job: typically a day, seven at most. A test tenant is done in seconds. */
const TYPICAL_MS = DAY;
const LONGEST_MS = 7 * DAY;

/** What a guess is made from. */
export interface Known {
  /** The service's time, in epoch milliseconds. */
  readonly now: number;
  /** How long jobs of earlier runs at the same place took, in milliseconds. */
  readonly earlier: readonly number[];
  /** Whether nothing is known of the place but what was seen there: it is the sandbox. */
  readonly isSandbox: boolean;
}

/** The part of a part that a guess is made from. */
export type Timed = Pick<RunPart, 'state' | 'sent_at' | 'done_at'>;

/** How long the jobs of parts took from their file to the look that found them done, in milliseconds. */
export function durationMs(parts: readonly Timed[]): number[] {
  return parts
    .map(({ sent_at: sent = '', done_at: done = '' }) => Date.parse(done) - Date.parse(sent))
    .filter((ms) => ms >= 0);
}

/**
 * How long a wait is likely to go on, in words that do not promise: from what the run's other parts took, else from
 * what jobs took before, else from what is known of the service. Undefined where nothing can be said.
 */
export function expectedLeft(
  parts: readonly Timed[],
  { now, earlier, isSandbox }: Known,
): string | undefined {
  const waiting = parts.filter(({ state }) => state === 'uploaded');
  const sent = waiting.map(({ sent_at: at = '' }) => Date.parse(at)).filter((at) => !Number.isNaN(at));
  if (sent.length === 0) return undefined;
  const waited = Math.max(0, now - Math.max(...sent));
  const own = durationMs(parts);
  const measured = medianOf(own.length > 0 ? own : earlier);
  if (measured === undefined) return isSandbox ? undefined : typicalLeft(waited);
  if (waited < measured) return `about ${roughly(measured - waited)} left`;
  return `longer than the ${roughly(measured)} of ${own.length > 0 ? 'its other parts' : 'earlier jobs'}`;
}

function typicalLeft(waited: number): string | undefined {
  // A test tenant would be done by then, and nothing here tells one from a production tenant.
  if (waited < MINUTE) return undefined;
  const most = roughly(LONGEST_MS - waited);
  if (waited < TYPICAL_MS) return `typically about ${roughly(TYPICAL_MS - waited)} left, ${most} at most`;
  return waited < LONGEST_MS ? `up to ${most} left` : 'longer than the seven days that it takes at most';
}

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** A span in one unit: a guess has no minutes and seconds. */
function roughly(ms: number): string {
  const unit = [DAY, HOUR, MINUTE].find((each) => ms >= 2 * each) ?? SECOND;
  return formatDuration(Math.max(1, Math.round(ms / unit)) * unit);
}
