// A log entry as tails and archives use it: its time, its key, and positions in the log.

import { hash } from 'node:crypto';
import { SvcError } from '../base/errors.ts';
import { sourceOf } from '../base/json/source.ts';
import { formatDuration, parseTime, SECOND_MS, utcTime, wholeSecond } from '../cli/output/time.ts';
import { damagedBytes, isLossy, logFromLine, logText } from '../client/api/logs.ts';
import { TOLERATED_CLOCK_MS } from '../client/http/service-clock.ts';
import { DAY_MS } from '../schema/durations.ts';
import type { Log } from '../schema/log.ts';

/** The default retention of the service, in milliseconds. */
export const DEFAULT_RETENTION_MS = DAY_MS;
/** The default overlap in milliseconds: how late an entry may arrive. */
export const DEFAULT_OVERLAP_MS = 120_000;
/**
 * The shortest gap that counts at the beginning of a time that somebody asked for: of the last 24 hours, the service always
 * deletes some entries before the first ones are read.
 */
export const MIN_GAP_MS = 60_000;

/** A log entry with its parsed time and its key. */
export class Entry {
  readonly log: Log;
  /** The creation time in epoch milliseconds; `NO_TIME` if it is unreadable. */
  readonly at: number;
  #key: string | undefined;

  constructor(log: Log) {
    this.log = log;
    this.at = parseTime(log.created_at) ?? NO_TIME;
  }

  /** A hash of the whole entry: equal entries have equal keys. It is computed on first use, because hashing is slow. */
  get key(): string {
    return (this.#key ??= fingerprint(this.log));
  }
}

/** The time of an entry without a readable time. It is never old enough to be forgotten, so the entry is not shown twice. */
export const NO_TIME = Number.MAX_SAFE_INTEGER;

export function entryOf(log: Log): Entry {
  return new Entry(log);
}

export function byTime(one: Entry, other: Entry): number {
  return one.at - other.at;
}

/** Returns the time of the oldest entry; `NO_TIME` if none has a readable time. */
export function oldestOf(entries: readonly Entry[]): number {
  return entries.reduce((oldest, { at }) => Math.min(oldest, at), NO_TIME);
}

// In the bundle every use of the import calls `require`, so the function is kept here.
let digest: typeof hash | undefined;

/** Returns 132 bits of SHA-256 over the entry with sorted members. Checkpoints and archives store these, so they must not change. */
function fingerprint(log: Log): string {
  digest ??= hash;
  return digest('sha256', isLossy(log) ? (damagedBytes(log) ?? logText(log)) : sortedText(log), 'base64url').slice(
    0,
    22,
  );
}

function sortedText(log: Log): string {
  const { sorted, text } = sortedNames(log);
  const values = sorted.map((name) => log[name]);
  return `[${text},${listText(values, sourceOf(log)?.text ?? ESCAPE)}]`;
}

const ESCAPE = '\\';

/** Returns values as a JSON list, without the general serializer where their text allows it. */
function listText(values: readonly unknown[], source: string): string {
  if (!source.includes(ESCAPE) && values.every((value) => typeof value === 'string'))
    return `["${values.join('","')}"]`;
  // A replacer function is slow, and hardly any entry has nested members.
  const isFlat = values.every((value) => typeof value !== 'object' || value === null);
  return JSON.stringify(values, isFlat ? undefined : withSortedMembers);
}

interface Names {
  readonly names: readonly string[];
  readonly sorted: readonly string[];
  readonly text: string;
}

let known: Names = { names: [], sorted: [], text: '[]' };

/** Returns the sorted names of an entry's members. They are reused, because sorting is slow and nearly all entries have the same. */
function sortedNames(log: Log): Names {
  const names = Object.keys(log);
  if (names.length === known.names.length && names.every((name, at) => name === known.names[at])) return known;
  const sorted = names.toSorted();
  known = { names, sorted, text: JSON.stringify(sorted) };
  return known;
}

function withSortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A half-open time range in epoch milliseconds: it includes `from` but not `to`. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Whether an entry is in a range. An entry without a readable time is in all ranges. */
export function isIn({ from, to }: TimeRange, { at }: Entry): boolean {
  return at === NO_TIME || (at >= from && at < to);
}

export function secondsOf(entries: readonly Entry[]): TimeRange[] {
  const timed = entries.filter(({ at }) => at !== NO_TIME);
  return [...countBy(timed, ({ at }) => wholeSecond(at))]
    .toSorted(([, one], [, other]) => other - one)
    .map(([from]) => ({ from, to: from + SECOND_MS }));
}

export function countByKey(entries: readonly Entry[]): Map<string, number> {
  return countBy(entries, ({ key }) => key);
}

function countBy<K>(entries: readonly Entry[], valueOf: (entry: Entry) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const entry of entries) counts.set(valueOf(entry), (counts.get(valueOf(entry)) ?? 0) + 1);
  return counts;
}

/** Returns the entries that occur more often than `timesOf` says, in order. */
export function beyond(entries: readonly Entry[], timesOf: (entry: Entry) => number): Entry[] {
  const met = new Map<string, number>();
  return entries.filter((entry) => {
    const times = timesOf(entry);
    if (times === 0) return true;
    const nth = (met.get(entry.key) ?? 0) + 1;
    met.set(entry.key, nth);
    return nth > times;
  });
}

/** One line of a tally in a checkpoint. */
export type TallyLine = readonly [key: string, at: number, count: number];

/** The entries of one second. Each is stored as text until its line is needed, because hashing is slow. */
class Second {
  readonly added: (TallyLine | string)[];
  total: number;
  // Most seconds are forgotten before anybody asks for their lines.
  #lines: Map<string, TallyLine> | undefined;
  #read = 0;

  constructor(first: TallyLine | string, count: number) {
    this.added = [first];
    this.total = count;
  }

  add(added: TallyLine | string, count: number): void {
    this.added.push(added);
    this.total += count;
  }

  /** Returns the lines with the counts of the first `length` added entries. */
  lines(length = this.added.length): ReadonlyMap<string, TallyLine> {
    if (length < this.#read) this.#lines = undefined;
    this.#read = this.#lines === undefined ? 0 : this.#read;
    const lines = (this.#lines ??= new Map<string, TallyLine>());
    for (const added of this.added.slice(this.#read, length)) {
      const line = typeof added === 'string' ? lineOf(entryOf(logFromLine(added))) : added;
      this.added[this.#read] = line;
      this.#read += 1;
      const [key, at, count] = line;
      lines.set(key, [key, at, (lines.get(key)?.[2] ?? 0) + count]);
    }
    return lines;
  }
}

function lineOf({ key, at }: Entry): TallyLine {
  return [key, at, 1];
}

/** A multiset of entries, because two different entries may be equal in every field. */
export class Tally {
  /** The entries by the second of their creation, so that whole seconds can be forgotten. */
  readonly #seconds = new Map<number, Second>();

  constructor(lines: Iterable<TallyLine> = []) {
    for (const line of lines) this.#put(line, line[1], line[2]);
  }

  get total(): number {
    return Array.from(this.#seconds.values()).reduce((sum, { total }) => sum + total, 0);
  }

  add(entry: Entry): void {
    const source = sourceOf(entry.log);
    this.#put(source === undefined || source.bytes ? lineOf(entry) : source.text, entry.at, 1);
  }

  /** Returns the number of entries of one second. */
  countOf(second: number): number {
    return this.#seconds.get(second)?.total ?? 0;
  }

  count(entry: Entry): number {
    return this.#seconds.get(wholeSecond(entry.at))?.lines().get(entry.key)?.[2] ?? 0;
  }

  /** Returns the entries that exceed the counts of this tally, in order. */
  surplus(entries: readonly Entry[]): Entry[] {
    return beyond(entries, (entry) => this.count(entry));
  }

  /** Forgets all entries before this whole second. */
  forgetBefore(time: number): void {
    for (const second of this.#seconds.keys()) if (second < time) this.#seconds.delete(second);
  }

  /** Returns a function that computes the lines of the present moment, whenever it is called. */
  lines(): () => TallyLine[] {
    const seconds = Array.from(this.#seconds.values(), (second) => [second, second.added.length] as const);
    return () => seconds.flatMap(([second, length]) => Array.from(second.lines(length).values()));
  }

  #put(added: TallyLine | string, at: number, count: number): void {
    const time = wholeSecond(at);
    const second = this.#seconds.get(time);
    if (second === undefined) this.#seconds.set(time, new Second(added, count));
    else second.add(added, count);
  }
}

/** The position of a tail. All times are epoch milliseconds by the service's clock. */
export interface TailPosition {
  /** The time before which all entries have been passed on. */
  readonly settled: number;
  /** The time up to which the log was read. Late entries from before may still arrive. */
  readonly readTo: number;
  /** The time of the newest entry read. */
  readonly newest: number | undefined;
  /** The entries after `settled` that have been passed on. */
  readonly passed: readonly TallyLine[];
}

/** Returns the position of a tail that begins at a time. */
export function beginAt(time: number): TailPosition {
  return { settled: time, readTo: time, newest: undefined, passed: [] };
}

/**
 * Whether a gap is none, because it is at the beginning of a time that somebody asked for and shorter than `longestMs`: nobody
 * knows that there were entries.
 */
export function isBeforeFirst({ readTo }: TailPosition, { from, to }: TimeRange, longestMs = MIN_GAP_MS): boolean {
  return from <= readTo && to - from < longestMs;
}

/**
 * Moves a position forward to a time (epoch milliseconds) before which nothing more will arrive. An entry from before then is
 * no longer the newest one: only a tail in delayed mode has settled all entries up to its newest.
 */
export function settledBefore(position: TailPosition, time: number): TailPosition {
  const settled = wholeSecond(time);
  if (position.settled >= settled) return position;
  const passed = position.passed.filter(([, at]) => at >= settled);
  const newest = (position.newest ?? settled) < settled ? undefined : position.newest;
  return { settled, readTo: Math.max(position.readTo, settled), newest, passed };
}

/** A moving position. Its size is bounded by the entries created within the overlap. */
export class TailState {
  settled: number;
  readTo: number;
  newest: number | undefined;
  readonly passed: Tally;
  /** Where the position stays while it is unknown which entries after it were deleted. */
  #heldAt: number | undefined;

  constructor({ settled, readTo, newest, passed }: TailPosition) {
    this.settled = settled;
    this.readTo = readTo;
    this.newest = newest;
    this.passed = new Tally(passed);
  }

  /** Keeps the position where it is, although reading goes on. */
  hold(): void {
    this.#heldAt ??= this.readTo;
  }

  release(): void {
    this.#heldAt = undefined;
  }

  /** Forgets the entries before this time, all of which have been passed on. */
  settle(time: number): void {
    if (time <= this.settled || this.#heldAt !== undefined) return;
    this.settled = time;
    this.passed.forgetBefore(time);
  }

  /** Returns the position, which is not after `latest` unless all entries until then are settled. */
  position(latest = Infinity): TailPosition {
    const { settled, newest } = this;
    const readTo = Math.max(settled, Math.min(this.readTo, latest, this.#heldAt ?? Infinity));
    const lines = this.passed.lines();
    return {
      settled,
      readTo,
      newest,
      get passed() {
        return lines();
      },
    };
  }
}

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

/** Checks that entries are requested since a time that the service has reached: after it there can be none. @throws SvcError `usage` */
export function requireBegun(since: number, now: number): void {
  if (since <= now + TOLERATED_CLOCK_MS) return;
  throw new SvcError(
    'usage',
    `the time to read from, ${utcTime(since)}, is after the service's time (${utcTime(now)})`,
    { hint: 'Choose an earlier time. Whether the clock of this machine is wrong:', next: ['doctor'] },
  );
}
