// Computes which time an archive covers, and which parts are missing.

import { SvcError } from '../../../base/errors.ts';
import { formatDuration, isoTime } from '../../../cli/output/time.ts';
import { TOLERATED_CLOCK_MS } from '../../../client/http/service-clock.ts';
import { HOUR_MS } from '../../../schema/durations.ts';
import type { TimeRange } from '../../entry.ts';
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

/** How much of a requested time an archive covers. Every page, message and script shows this. */
export interface TimeCoverage extends TimeRange {
  readonly covered: readonly TimeRange[];
  readonly missing: readonly MissingRange[];
  /** The covered share, rounded down to a tenth of a percent: only 1 is all of the time. */
  readonly share: number;
}

/** The time ranges that an archive covers, and those in which entries may be missing. */
export class Coverage {
  readonly #read: TimeRange[] = [];
  readonly #lost: TimeRange[] = [];
  /** The records of months that retention dropped, in order. */
  readonly drops: DropRecord[] = [];
  /** The beginning of the archive, before retention dropped anything. */
  #began = Infinity;

  add(record: RecordContent): void {
    if (record.kind === 'segments') this.#join(this.#read, rangeOf(record.read_from, record.read_to));
    if (record.kind === 'gap') this.#join(this.#lost, rangeOf(record.from, record.to));
    if (record.kind !== 'dropped') return;
    this.drops.push(record);
    for (const ranges of [this.#read, this.#lost]) cutBefore(ranges, Date.parse(record.before));
  }

  /** Returns where the archive began, before retention dropped anything; undefined if it covers no time yet. */
  began(): number | undefined {
    return this.#began === Infinity ? undefined : this.#began;
  }

  /** Returns the ranges in which nothing is missing, in order. */
  covered(): TimeRange[] {
    return this.#read.flatMap((one) => without(one, this.#lost));
  }

  /** Returns the ranges between the archive's beginning and end in which entries may be missing, in order. */
  gaps(): TimeRange[] {
    const whole = this.whole();
    return whole === undefined ? [] : without(whole, this.covered());
  }

  /** Returns the parts of a range that are not covered, in order. */
  missing(range: TimeRange): MissingRange[] {
    const whole = this.whole();
    if (whole === undefined)
      return without(range, []).map(({ from, to }) => ({ from, to, reason: 'not archived yet' }));
    // Retention drops only archived time.
    const began = Math.min(this.#began, whole.from);
    const missing = [
      ...overlap(range, -Infinity, began, 'before the archive'),
      ...overlap(range, began, whole.from, 'dropped by retention'),
      ...overlap(range, whole.to, Infinity, 'not archived yet'),
    ];
    for (const { from, to } of without(range, [...this.covered(), ...outside(whole)].toSorted(byStart)))
      missing.push({ from, to, reason: 'gap' });
    return missing.toSorted(byStart);
  }

  /** Returns how much of a time is covered. The time must not be empty. */
  of({ from, to }: TimeRange): TimeCoverage {
    const missing = this.missing({ from, to });
    const missingMs = missing.reduce((sum, range) => sum + range.to - range.from, 0);
    const share = Math.floor(((to - from - missingMs) * 1000) / (to - from)) / 1000;
    return { from, to, covered: without({ from, to }, missing), missing, share };
  }

  #join(ranges: TimeRange[], added: TimeRange): void {
    if (added.to > added.from) this.#began = Math.min(this.#began, added.from);
    join(ranges, added);
  }

  /** Returns the range from the first to the last moment that any record mentions, except what retention dropped. */
  whole(): TimeRange | undefined {
    const all = [...this.#read, ...this.#lost];
    if (all.length === 0) return undefined;
    return { from: Math.min(...all.map(({ from }) => from)), to: Math.max(...all.map(({ to }) => to)) };
  }
}

/** Returns the part of a range from `begin` to `end`, if there is one. */
function overlap(range: TimeRange, begin: number, end: number, reason: MissingRange['reason']): MissingRange[] {
  const [from, to] = [Math.max(range.from, begin), Math.min(range.to, end)];
  return from < to ? [{ from, to, reason }] : [];
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
function without({ from, to }: TimeRange, others: readonly TimeRange[]): TimeRange[] {
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

/** Returns how much of a range the covered ranges have, in milliseconds. */
export function coveredMs(covered: readonly TimeRange[], range: TimeRange): number {
  return without(range, covered).reduce((left, { from, to }) => left - (to - from), range.to - range.from);
}

export function isoRange({ from, to }: TimeRange): { from: string; to: string } {
  return { from: isoTime(from), to: isoTime(to) };
}

/** Returns a missing range as it is printed and recorded. */
export function isoMissing<Reason>({ reason, ...range }: TimeRange & { readonly reason: Reason }) {
  return { ...isoRange(range), reason };
}

export function rangeOf(from: string, to: string): TimeRange {
  return { from: Date.parse(from), to: Date.parse(to) };
}

/**
 * Returns the milliseconds until the service deletes unarchived entries; negative if it may have done so already. A position
 * in the future is no longer kept than one of the present.
 */
export function marginMs(readTo: number, retentionMs: number, now: number): number {
  return retentionMs - Math.max(0, now - readTo);
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
  const hint = error.hint === undefined ? words : `${error.hint} ${words}`;
  return error.with({ hint, facts: { hours_left: marginHours(ms) } });
}

/** @throws SvcError `threshold` if less time than required was left before a run */
export function checkMargin(beforeMs: number, requiredMs: number, isUpToDate: boolean): void {
  if (beforeMs >= requiredMs) return;
  const left = beforeMs <= 0 ? 'nothing was' : `only ${formatDuration(beforeMs)} were`;
  throw new SvcError(
    'threshold',
    `${left} left when this run began, less than the margin of ${formatDuration(requiredMs)}`,
    {
      hint: `${isUpToDate ? 'The archive is up to date now. ' : ''}Archive more often.`,
      facts: { hours_left_before: marginHours(beforeMs), retention_margin_hours: marginHours(requiredMs) },
    },
  );
}

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
  // A run that ended right after it recorded a gap left the gap at the end, after the covered time.
  const recordedTo = since === undefined ? end : coverage.whole()?.to;
  const required: TimeRange = { from: Math.max(0, since ?? end ?? oldest), to: isStale ? now : (recordedTo ?? now) };
  return coverage.missing(required);
}

/** The time of writing a record, by the service's clock, and the difference of the machine's clock. */
export type Stamp = Pick<RecordContent, 'written_at' | 'clock_ahead_ms'>;

/** Returns what a record says of the time of its writing. `now` is the service's time in epoch milliseconds. */
export function stampOf(now: number, machineAheadMs: number): Stamp {
  const written_at = isoTime(now);
  return Math.abs(machineAheadMs) <= TOLERATED_CLOCK_MS
    ? { written_at }
    : { written_at, clock_ahead_ms: machineAheadMs };
}

/** The records that were written while a machine's clock was ahead of the service's, or behind it. */
export interface ClockDifference {
  readonly direction: 'ahead of' | 'behind';
  records: number;
  /** The largest difference. */
  mostMs: number;
  /** When the first and the last of these records were written, by the service's clock. */
  readonly from: string;
  to: string;
}

/** Collects the differences between clocks that records mention. */
export class ClockDifferences {
  readonly #found = new Map<string, ClockDifference>();

  add({ written_at: at, clock_ahead_ms: aheadMs = 0 }: Stamp): void {
    if (aheadMs === 0) return;
    const direction = aheadMs > 0 ? 'ahead of' : 'behind';
    const found = this.#found.get(direction) ?? { direction, records: 0, mostMs: 0, from: at, to: at };
    found.records += 1;
    found.mostMs = Math.max(found.mostMs, Math.abs(aheadMs));
    found.to = at;
    this.#found.set(direction, found);
  }

  /** Returns at most one difference for each direction. */
  all(): ClockDifference[] {
    return [...this.#found.values()];
  }
}
