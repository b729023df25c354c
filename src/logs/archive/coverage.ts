import { SvcError } from '../../base/errors.ts';
import { formatDuration, isoTime } from '../../cli/output/time.ts';
import type { TimeRange } from '../entry.ts';
import type { DropRecord, RecordContent } from './record.ts';

/** A time range that an archive does not cover, and why. */
export interface MissingRange extends TimeRange {
  readonly reason:
    | 'before the archive'
    | 'dropped by retention'
    | 'gap'
    | 'not archived yet'
    | "after this machine's time";
}

/** The time ranges that an archive covers, and those in which entries may be missing. */
export class Coverage {
  readonly #read: TimeRange[] = [];
  readonly #lost: TimeRange[] = [];
  /** The records of months that retention dropped, in order. */
  readonly drops: DropRecord[] = [];

  add(record: RecordContent): void {
    if (record.kind === 'segments') join(this.#read, rangeOf(record.read_from, record.read_to));
    if (record.kind === 'gap') join(this.#lost, rangeOf(record.from, record.to));
    if (record.kind !== 'dropped') return;
    this.drops.push(record);
    for (const ranges of [this.#read, this.#lost]) cutBefore(ranges, Date.parse(record.before));
  }

  /** Returns the ranges in which nothing is missing, in order. */
  covered(): TimeRange[] {
    return this.#read.flatMap((one) => without(one, this.#lost));
  }

  /** Returns the ranges between the archive's beginning and end in which entries may be missing, in order. */
  gaps(): TimeRange[] {
    const whole = this.#whole();
    return whole === undefined ? [] : without(whole, this.covered());
  }

  /** Returns the parts of a range that are not covered, in order. */
  missing(range: TimeRange): MissingRange[] {
    const whole = this.#whole();
    const gaps = whole === undefined ? [] : without(range, [...this.covered(), ...outside(whole)].toSorted(byStart));
    const before = this.drops.length > 0 ? 'dropped by retention' : 'before the archive';
    const missing: MissingRange[] = gaps.map(({ from, to }) => ({ from, to, reason: 'gap' }));
    for (const { from, to } of without(range, whole === undefined ? [] : [whole])) {
      const isBefore = whole !== undefined && from < whole.from;
      missing.push({ from, to, reason: isBefore ? before : 'not archived yet' });
    }
    return missing.toSorted(byStart);
  }

  /** The range from the first to the last moment that any record mentions. */
  #whole(): TimeRange | undefined {
    const all = [...this.#read, ...this.#lost];
    if (all.length === 0) return undefined;
    return { from: Math.min(...all.map(({ from }) => from)), to: Math.max(...all.map(({ to }) => to)) };
  }
}

function outside({ from, to }: TimeRange): TimeRange[] {
  return [
    { from: -Infinity, to: from },
    { from: to, to: Infinity },
  ];
}

function byStart(one: TimeRange, other: TimeRange): number {
  return one.from - other.from;
}

/** Adds a range to sorted, disjoint ranges. The search starts at the end, because most ranges are added in order. */
function join(ranges: TimeRange[], added: TimeRange): void {
  if (added.to <= added.from) return;
  let { from, to } = added;
  let at = ranges.length;
  for (; at > 0; at -= 1) {
    const before = ranges[at - 1];
    if (before === undefined || before.to < from) break;
    if (before.from > to) continue;
    from = Math.min(from, before.from);
    to = Math.max(to, before.to);
    ranges.splice(at - 1, 1);
  }
  ranges.splice(at, 0, { from, to });
}

function cutBefore(ranges: TimeRange[], at: number): void {
  const left = ranges.filter(({ to }) => to > at).map(({ from, to }) => ({ from: Math.max(from, at), to }));
  ranges.splice(0, ranges.length, ...left);
}

/** Returns the parts of a range outside other ranges, which are sorted and disjoint. */
export function without({ from, to }: TimeRange, others: readonly TimeRange[]): TimeRange[] {
  const left: TimeRange[] = [];
  let at = from;
  for (const other of others) {
    if (other.to <= at || other.from >= to) continue;
    if (other.from > at) left.push({ from: at, to: other.from });
    at = other.to;
  }
  if (at < to) left.push({ from: at, to });
  return left;
}

export function isoRange({ from, to }: TimeRange): { from: string; to: string } {
  return { from: isoTime(from), to: isoTime(to) };
}

function rangeOf(from: string, to: string): TimeRange {
  return { from: Date.parse(from), to: Date.parse(to) };
}

const HOUR_MS = 3_600_000;

/** Returns the milliseconds until the service deletes unarchived entries; negative if it may have done so already. */
export function marginMs(readTo: number, retentionMs: number, now: number): number {
  return readTo + retentionMs - now;
}

/** Returns a margin in hours, rounded to hundredths. */
export function marginHours(ms: number): number {
  return Math.round((ms / HOUR_MS) * 100) / 100;
}

/** Adds the time left before unarchived entries are lost to the error of a run. */
export function withMargin(error: SvcError, ms: number): SvcError {
  const words =
    ms <= 0
      ? 'Entries that are not archived may already have been forgotten.'
      : `${formatDuration(ms)} are left before entries that are not archived are forgotten.`;
  const { code, message, next, status, requestId, retryable, cause } = error;
  const hint = error.hint === undefined ? words : `${error.hint} ${words}`;
  const facts = { ...error.facts, hours_left: marginHours(ms) };
  return new SvcError(code, message, { hint, next, status, requestId, retryable, facts, cause });
}

/** @throws SvcError `threshold` if less time than required was left */
export function checkMargin(beforeMs: number, requiredMs: number): void {
  if (beforeMs >= requiredMs) return;
  const left = beforeMs <= 0 ? 'nothing was' : `only ${formatDuration(beforeMs)} were`;
  throw new SvcError(
    'threshold',
    `${left} left when this run began, less than the margin of ${formatDuration(requiredMs)}`,
    {
      hint: 'The archive is up to date now. Archive more often.',
      facts: { hours_left_before: marginHours(beforeMs), retention_margin_hours: marginHours(requiredMs) },
    },
  );
}
