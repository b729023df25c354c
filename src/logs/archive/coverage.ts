import { SvcError } from '../../errors.ts';
import { formatDuration } from '../../output/time.ts';
import type { ArchiveRecord } from './record.ts';

/** A half-open stretch of time, in epoch milliseconds. */
export interface CoverageRange {
  readonly from: number;
  readonly to: number;
}

/** Which stretches of time an archive has read, and in which entries may be missing. */
export class Coverage {
  readonly #read: CoverageRange[] = [];
  readonly #lost: CoverageRange[] = [];

  add(record: ArchiveRecord): void {
    if (record.kind === 'segments') join(this.#read, coverageRange(record.read_from, record.read_to));
    if (record.kind === 'gap') join(this.#lost, coverageRange(record.from, record.to));
  }

  /** Stretches in which nothing is missing, in order. */
  covered(): CoverageRange[] {
    return this.#read.flatMap((one) => without(one, this.#lost));
  }

  /** Stretches between the beginning and the end in which entries may be missing, in order. */
  gaps(): CoverageRange[] {
    const all = [...this.#read, ...this.#lost];
    if (all.length === 0) return [];
    const whole = {
      from: Math.min(...all.map(({ from }) => from)),
      to: Math.max(...all.map(({ to }) => to)),
    };
    return without(whole, this.covered());
  }
}

/** Adds a stretch to others that are in order and apart. Most come in order, so it goes in from the end. */
function join(stretches: CoverageRange[], added: CoverageRange): void {
  if (added.to <= added.from) return;
  let { from, to } = added;
  let at = stretches.length;
  for (; at > 0; at -= 1) {
    const before = stretches[at - 1];
    if (before === undefined || before.to < from) break;
    if (before.from > to) continue;
    [from, to] = [Math.min(from, before.from), Math.max(to, before.to)];
    stretches.splice(at - 1, 1);
  }
  stretches.splice(at, 0, { from, to });
}

/** What is left of a stretch without others, which are in order and apart. */
function without({ from, to }: CoverageRange, others: readonly CoverageRange[]): CoverageRange[] {
  const left: CoverageRange[] = [];
  let at = from;
  for (const other of others) {
    if (other.to <= at || other.from >= to) continue;
    if (other.from > at) left.push({ from: at, to: other.from });
    at = other.to;
  }
  if (at < to) left.push({ from: at, to });
  return left;
}

function coverageRange(from: string, to: string): CoverageRange {
  return { from: Date.parse(from), to: Date.parse(to) };
}

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
function describeMargin(ms: number): string {
  return ms <= 0
    ? 'entries that are not archived may already have been forgotten'
    : `${formatDuration(ms)} are left before entries that are not archived are forgotten`;
}

/** The failure of a run, with how much time is left to mend it. */
export function withMargin(error: SvcError, ms: number): SvcError {
  const { code, message, hint, status, requestId, retryable, facts, cause } = error;
  const words = describeMargin(ms);
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
