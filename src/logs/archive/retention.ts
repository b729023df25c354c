// Drops old months of an archive (`--keep`).

import { isSvcError, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/number.ts';
import type { Store } from '../../client/store/store.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { Contents, droppedBy } from './manifest.ts';
import { readRecords } from './records/chain.ts';
import {
  type ArchiveRecord,
  dayIn,
  dayOf,
  type DroppedMonth,
  type DropRecord,
  isDroppedBy,
  isHidden,
  type Segment,
  SEGMENTS,
  UNKNOWN_DAY,
} from './records/record.ts';
import { INDEX } from './segment-index.ts';

/** The months that retention has dropped, with their counts. */
export interface Dropped {
  /** The first moment kept, in epoch milliseconds. */
  readonly before: number;
  readonly months: readonly DroppedMonth[];
}

/** The part of an archive writer that retention uses. */
interface DroppingWriter {
  readonly position: { readonly readTo: number };
  /** Whether no commit has failed. */
  readonly isWhole: boolean;
  drop(limit: KeepLimit, by: string): Promise<OldSegments>;
  remove(paths: readonly string[]): Promise<ReadonlyMap<string, SvcError>>;
}

/** The present, in epoch milliseconds, by two clocks. */
interface Clocks {
  readonly service: number;
  readonly machine: number;
}

/** The latest time from which months are counted back, and the number of whole months kept before it. */
export interface KeepLimit {
  readonly end: number;
  readonly months: number;
}

/** The pause after a failure. An attempt reads all records, which are many requests in a bucket. */
const RETRY_MS = HOUR_MS;

/** The errors that end the command itself. */
const ENDED = ['hangup', 'interrupted', 'terminated', 'timeout', 'bug'] as const;

/** The largest difference between the two clocks with which months are dropped. */
const MAX_APART_MS = 86_400_000;

/**
 * Drops months after a run's commits, whenever the archive has reached another month. Dropped entries are lost, so no clock
 * alone decides what is old: months count back from the earliest of both clocks, the archive's end and its newest entry.
 */
export class Retention {
  readonly #months: number;
  readonly #by: string;
  readonly #onApart: ((apartMs: number) => void) | undefined;
  readonly #onFailure: ((error: SvcError) => void) | undefined;
  readonly #dropped: DroppedMonth[] = [];
  #before = -Infinity;
  #apartMs = 0;
  #failure: { readonly error: SvcError; readonly at: number } | undefined;

  /**
   * Keeps this number of whole months before the month in which the archive ends. `by` is recorded with each drop.
   * `onApart` is called when the clocks become too far apart to drop anything, and `onFailure` when months cannot be
   * dropped or files not removed.
   */
  constructor(months: number, by: string, onApart?: (apartMs: number) => void, onFailure?: (error: SvcError) => void) {
    this.#months = months;
    this.#by = by;
    this.#onApart = onApart;
    this.#onFailure = onFailure;
  }

  get dropped(): Dropped {
    return { before: this.#before, months: this.#dropped };
  }

  /** The milliseconds between the two clocks if they were too far apart to drop anything; else 0. */
  get apartMs(): number {
    return this.#apartMs;
  }

  /** The reason why the last attempt left old months or their files. */
  get failure(): SvcError | undefined {
    return this.#failure?.error;
  }

  /** @throws the failure of a commit. Any other failure is kept, because new entries must be archived regardless. */
  async apply(writer: DroppingWriter, { service, machine }: Clocks): Promise<void> {
    const apartMs = Math.abs(service - machine);
    const isApart = apartMs > MAX_APART_MS;
    if (isApart && this.#apartMs === 0) this.#onApart?.(apartMs);
    this.#apartMs = isApart ? apartMs : 0;
    if (isApart) return;
    const limit = { end: Math.min(writer.position.readTo, service, machine), months: this.#months };
    const isDue = this.#failure
      ? service - this.#failure.at >= RETRY_MS
      : keptFrom(limit.end, limit.months) > this.#before;
    if (!isDue) return;
    const error = await this.#drop(writer, limit);
    if (error !== undefined && error.message !== this.#failure?.error.message) this.#onFailure?.(error);
    this.#failure = error && { error, at: service };
  }

  async #drop(writer: DroppingWriter, limit: KeepLimit): Promise<SvcError | undefined> {
    try {
      const { before, months, paths } = await writer.drop(limit, this.#by);
      this.#before = before;
      this.#dropped.push(...months);
      const kept = await writer.remove(paths);
      return kept.size === 0 ? undefined : filesKept(kept);
    } catch (error) {
      if (!writer.isWhole || !isSvcError(error) || isSvcError(error, ...ENDED)) throw error;
      return error;
    }
  }
}

/** Returns the first moment kept of an archive with this end. */
export function keptFrom(end: number, months: number): number {
  const at = new Date(end);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1);
}

/** Segments and files older than the first moment to keep. */
export interface OldSegments {
  /** The first moment to keep, in epoch milliseconds. */
  readonly before: number;
  /** Months that no record drops yet. */
  readonly months: DroppedMonth[];
  /** The files to remove: of these months, and of earlier months if a killed run left some. */
  readonly paths: readonly string[];
}

/**
 * Finds the months and files to drop, counted back from the end or from the day of the newest entry if that is earlier. Segments
 * that no record lists stay, and so do entries without a readable time.
 * @throws SvcError as `readRecords`
 */
export async function findOld(store: Store, { end, months }: KeepLimit): Promise<OldSegments> {
  const present = new Set<string>();
  const latest = { before: dayOf(keptFrom(end, months)) };
  let newest = '';
  for (const kind of [SEGMENTS, INDEX])
    for await (const { path } of store.list(kind)) {
      if (isHidden(path)) continue;
      const day = dayIn(path);
      if (kind === SEGMENTS && day !== UNKNOWN_DAY && day > newest) newest = day;
      if (isDroppedBy(latest, path)) present.add(path);
    }
  const newestAt = Date.parse(newest);
  const before = keptFrom(Number.isNaN(newestAt) ? end : Math.min(end, newestAt), months);
  const limit = { before: dayOf(before) };
  // Most runs find no old file and need not read the chain.
  if (![...present].some((path) => isDroppedBy(limit, path))) return { before, months: [], paths: [] };
  const contents = new Contents();
  for await (const { record } of readRecords(store)) contents.add(record, record.sequence);
  const listed = droppedBy(limit, contents.segments);
  const paths = [...droppedBy(limit, contents.dropped), ...listed].map(({ path }) => path);
  const old = [...present].filter((path) => path.startsWith(INDEX) && isDroppedBy(limit, path));
  return { before, months: monthsOf(listed), paths: [...old, ...paths.filter((path) => present.has(path))] };
}

/** The facts that a record of dropped months must match. */
interface DroppedSegments {
  /** The listed segments that the record drops. */
  readonly taken: readonly Pick<Segment, 'path' | 'entries' | 'bytes'>[];
  /** The previous record. */
  readonly before: Pick<ArchiveRecord, 'position'>;
}

const FIRST_OF_MONTH = /^\d{4}-\d\d-01T00:00:00\.000Z$/;

/** Returns the problems that prove that svc did not write a record of dropped months. */
export function dropProblems(
  record: DropRecord & Pick<ArchiveRecord, 'position'>,
  { taken, before }: DroppedSegments,
): string[] {
  const end = before.position.read_to;
  const isMoved = record.position.read_to !== end;
  const isTooNew = Date.parse(record.before) > Date.parse(end);
  return [
    ...(FIRST_OF_MONTH.test(record.before) ? [] : [`it drops what is before ${record.before}, not whole months`]),
    ...(isTooNew ? ['it drops entries of the month in which the archive ended'] : []),
    ...(isMoved ? ['it moves the end of the archive, which dropping months does not'] : []),
    ...(isSame(record.months, monthsOf(taken)) ? [] : ['it does not count the entries that it drops']),
    ...(record.months.length === 0 ? ['it names no dropped month'] : []),
  ];
}

function isSame(months: readonly DroppedMonth[], others: readonly DroppedMonth[]): boolean {
  return months.map(monthText).join('\n') === others.map(monthText).join('\n');
}

function monthText({ month, segments, entries, bytes }: DroppedMonth): string {
  return [month, segments, entries, bytes].join();
}

/** Sums segments, entries and bytes by month, oldest first. */
function monthsOf(segments: DroppedSegments['taken']): DroppedMonth[] {
  const months = new Map<string, DroppedMonth>();
  for (const { path, entries, bytes } of segments) {
    const month = dayIn(path).slice(0, 7);
    const sum = months.get(month) ?? { month, segments: 0, entries: 0, bytes: 0 };
    months.set(month, sum);
    sum.segments += 1;
    sum.entries += entries;
    sum.bytes += bytes;
  }
  return [...months.values()].toSorted((one, other) => (one.month < other.month ? -1 : 1));
}

const MAX_NAMED = 10;

/** Returns the error for files of dropped months that cannot be removed, with the reason of the first. */
function filesKept(kept: ReadonlyMap<string, SvcError>): SvcError {
  const [reason] = kept.values();
  if (reason === undefined) throw new SvcError('bug', 'all files were removed');
  const message = `${countText(kept.size, 'file')} of dropped months ${kept.size === 1 ? 'was' : 'were'} not removed`;
  return reason.with({
    message: `${message}: ${reason.message}`,
    hint: `Their entries are recorded as dropped, so no command reads them. ${reason.hint ?? ''} The next run with --keep removes them.`,
    facts: { kept_files: [...kept.keys()].slice(0, MAX_NAMED) },
  });
}
