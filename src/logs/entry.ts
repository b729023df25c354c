import { hash } from 'node:crypto';
import { sourceOf } from '../base/json/source.ts';
import { parseTime, SECOND_MS, wholeSecond } from '../cli/output/time.ts';
import { isLossy, logFromLine, logText } from '../client/api/logs.ts';
import type { Log } from '../schema/log.ts';

/** How long the service keeps entries, in milliseconds, unless an option says otherwise. */
export const DEFAULT_RETENTION_MS = 86_400_000;
/** How late an entry may arrive, in milliseconds, unless an option says otherwise. */
export const DEFAULT_OVERLAP_MS = 120_000;

/** A log entry with what its readers need to know of it. */
export class Entry {
  readonly log: Log;
  /** When it was created, in epoch milliseconds. */
  readonly at: number;
  #key: string | undefined;

  constructor(log: Log) {
    this.log = log;
    this.at = parseTime(log.created_at) ?? NO_TIME;
  }

  /** Stands for the whole entry: equal entries have equal keys. Made when asked for, as hashing takes its time. */
  get key(): string {
    return (this.#key ??= fingerprint(this.log));
  }
}

/** The time of an entry whose own cannot be read: it is never old enough to be forgotten, so it is not shown twice. */
export const NO_TIME = Number.MAX_SAFE_INTEGER;

export function entryOf(log: Log): Entry {
  return new Entry(log);
}

export function byTime(one: Entry, other: Entry): number {
  return one.at - other.at;
}

// In the bundle the import is a call of `require`: once is enough.
let digest: typeof hash | undefined;

/** 132 bits of SHA-256 over the entry with its members sorted; checkpoints and archives keep them. */
function fingerprint(log: Log): string {
  digest ??= hash;
  return digest('sha256', isLossy(log) ? logText(log) : sortedText(log), 'base64url').slice(0, 22);
}

function sortedText(log: Log): string {
  const { sorted, text } = sortedNames(log);
  const values = sorted.map((name) => log[name]);
  return `[${text},${listText(values, sourceOf(log)?.text ?? ESCAPE)}]`;
}

const ESCAPE = '\\';

/** The members of an entry as JSON, as fast as its text and they allow. */
function listText(values: readonly unknown[], source: string): string {
  if (!source.includes(ESCAPE) && values.every((value) => typeof value === 'string'))
    return `["${values.join('","')}"]`;
  // A replacer function takes longer than all the rest, and hardly any entry has nested members.
  const isFlat = values.every((value) => typeof value !== 'object' || value === null);
  return JSON.stringify(values, isFlat ? undefined : withSortedMembers);
}

interface Names {
  readonly names: readonly string[];
  readonly sorted: readonly string[];
  readonly text: string;
}

let known: Names = { names: [], sorted: [], text: '[]' };

/** Nearly all entries have the names of the one before, and sorting takes longer than the rest. */
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

/** A half-open time range in epoch milliseconds: `from` belongs to it, `to` does not. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Whether an entry belongs to a range. One whose time cannot be read belongs to all. */
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

/** The entries that come more often than so many times, in their order. */
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

/** One line of a tally as a checkpoint keeps it. */
export type TallyLine = readonly [key: string, at: number, count: number];

/** The entries of one second, each as a line or, until somebody asks, as its text: hashing takes longer than all else. */
class Second {
  readonly added: (TallyLine | string)[] = [];
  total = 0;
  #lines = new Map<string, TallyLine>();
  #read = 0;

  /** How many there are of each entry among the first `length` that were added. */
  lines(length = this.added.length): ReadonlyMap<string, TallyLine> {
    if (length < this.#read) {
      this.#lines = new Map();
      this.#read = 0;
    }
    for (const added of this.added.slice(this.#read, length)) {
      const line = typeof added === 'string' ? lineOf(entryOf(logFromLine(added))) : added;
      this.added[this.#read] = line;
      this.#read += 1;
      const [key, at, count] = line;
      this.#lines.set(key, [key, at, (this.#lines.get(key)?.[2] ?? 0) + count]);
    }
    return this.#lines;
  }
}

function lineOf({ key, at }: Entry): TallyLine {
  return [key, at, 1];
}

/** How many of each entry there are: a multiset, because two entries may be equal in every field and still be two. */
export class Tally {
  /** By the second of their creation, as they are forgotten second by second. */
  readonly #seconds = new Map<number, Second>();

  constructor(lines: Iterable<TallyLine> = []) {
    for (const line of lines) this.#put(line, line[1], line[2]);
  }

  get total(): number {
    return Array.from(this.#seconds.values()).reduce((sum, { total }) => sum + total, 0);
  }

  add(entry: Entry): void {
    this.#put(sourceOf(entry.log)?.text ?? lineOf(entry), entry.at, 1);
  }

  /** How many there are of one second. */
  countOf(second: number): number {
    return this.#seconds.get(second)?.total ?? 0;
  }

  count(entry: Entry): number {
    return this.#seconds.get(wholeSecond(entry.at))?.lines().get(entry.key)?.[2] ?? 0;
  }

  /** Those of `entries` that go beyond what is counted here, in their order. */
  surplus(entries: readonly Entry[]): Entry[] {
    return beyond(entries, (entry) => this.count(entry));
  }

  /** Forgets what is older than this whole second. */
  forgetBefore(time: number): void {
    for (const second of this.#seconds.keys()) if (second < time) this.#seconds.delete(second);
  }

  /** The lines of this moment, to be asked for at any time. */
  lines(): () => TallyLine[] {
    const seconds = Array.from(this.#seconds.values(), (second) => [second, second.added.length] as const);
    return () => seconds.flatMap(([second, length]) => Array.from(second.lines(length).values()));
  }

  #put(added: TallyLine | string, at: number, count: number): void {
    const second = this.#seconds.get(wholeSecond(at)) ?? new Second();
    if (second.total === 0) this.#seconds.set(wholeSecond(at), second);
    second.added.push(added);
    second.total += count;
  }
}

/** How far a tail has got. All times in epoch milliseconds, by the service's clock. */
export interface TailPosition {
  /** All entries from before this time have been passed on. */
  readonly settled: number;
  /** The log was read up to here; late entries from before may still come. */
  readonly readTo: number;
  /** The time of the newest entry met. */
  readonly newest: number | undefined;
  /** The entries since `settled` that have been passed on. */
  readonly passed: readonly TallyLine[];
}

/** The position of a tail that begins at a time. */
export function beginAt(time: number): TailPosition {
  return { settled: time, readTo: time, newest: undefined, passed: [] };
}

/** The position once it is known that nothing from before a time, in epoch milliseconds, will come any more. */
export function settledBefore(position: TailPosition, time: number): TailPosition {
  const settled = wholeSecond(time);
  if (position.settled >= settled) return position;
  const passed = position.passed.filter(([, at]) => at >= settled);
  return { ...position, settled, readTo: Math.max(position.readTo, settled), passed };
}

/** A position as it moves. Its size is bounded by what is created within the overlap. */
export class TailState {
  settled: number;
  readTo: number;
  newest: number | undefined;
  readonly passed: Tally;

  constructor({ settled, readTo, newest, passed }: TailPosition) {
    this.settled = settled;
    this.readTo = readTo;
    this.newest = newest;
    this.passed = new Tally(passed);
  }

  /** Forgets the entries from before this time: all of them have been passed on. */
  settle(time: number): void {
    if (time <= this.settled) return;
    this.settled = time;
    this.passed.forgetBefore(time);
  }

  position(): TailPosition {
    const { settled, readTo, newest } = this;
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
