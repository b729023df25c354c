import { parseTime } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import type { TimeRange } from '../entry.ts';
import { Tail } from '../follow.ts';
import type { TailPosition } from '../position.ts';
import type { LogSource } from '../read-range.ts';
import type { Bounds } from './manifest.ts';
import { type Lane, merged, type Timed } from './merge.ts';
import type { Segment } from './record.ts';
import { readSegment, type ReadSegmentOptions } from './segment.ts';
import type { ArchiveStore } from './store.ts';

/** What is looked for. */
export interface SearchOptions extends Bounds, ReadSegmentOptions {
  readonly segments: readonly Segment[];
  /** Which entries are wanted. */
  readonly matches: (log: Log) => boolean;
  /** Stop after this many. */
  readonly limit?: number | undefined;
  /** Entries from elsewhere that go between those of the segments. */
  readonly more?: Lane | undefined;
  /** Told how many entries were read. */
  readonly onRead?: ((entries: number) => void) | undefined;
}

const AT_ONCE = 500;

/**
 * Entries in order of time, with late ones in their place; those whose time cannot be read come last. Every segment
 * that is begun is read to its end, and so checked.
 * @throws SvcError `checksum_mismatch` naming a segment that is not as it was written
 */
export async function* searchSegments(
  store: ArchiveStore,
  options: SearchOptions,
): AsyncGenerator<readonly Log[]> {
  let left = options.limit ?? Infinity;
  const isOver = (): boolean => left <= 0;
  const lanes = options.segments.map((segment) => laneOf(store, segment, options, isOver));
  const all = options.more ? [...lanes, untilOver(options.more, isOver)] : lanes;
  for await (const batch of merged(all, Math.min(left, AT_ONCE))) {
    if (isOver()) continue;
    const wanted = batch.slice(0, left);
    left -= wanted.length;
    yield wanted.map(({ log }) => log);
  }
}

function laneOf(store: ArchiveStore, segment: Segment, options: SearchOptions, isOver: () => boolean): Lane {
  return {
    first: segment.first === null ? Infinity : Date.parse(segment.first),
    async *read() {
      // What would only be begun when all that was asked for is found need not be read.
      if (isOver()) return;
      for await (const batch of readSegment(store, segment, options)) {
        options.onRead?.(batch.length);
        const wanted = batch.flatMap((log) => timedIfWanted(log, options));
        if (wanted.length > 0) yield wanted;
      }
    },
  };
}

function untilOver(lane: Lane, isOver: () => boolean): Lane {
  return {
    first: lane.first,
    async *read() {
      for await (const batch of lane.read()) {
        if (isOver()) return;
        yield batch;
      }
    },
  };
}

function timedIfWanted(log: Log, { since = -Infinity, until = Infinity, matches }: SearchOptions): Timed[] {
  const at = parseTime(log.created_at);
  const isWithin = at === undefined ? since === -Infinity && until === Infinity : at >= since && at < until;
  return isWithin && matches(log) ? [{ at: at ?? Infinity, log }] : [];
}

/** What is read of the service behind the end of an archive. */
export interface LiveOptions extends Bounds {
  /** How late an entry may come, in milliseconds. */
  readonly overlapMs: number;
  /** How long the service keeps entries, in milliseconds. */
  readonly retentionMs: number;
  readonly matches: (log: Log) => boolean;
  readonly onGap: (gap: TimeRange) => void;
}

/**
 * What the service has and the archive does not, up to the present, in order of time: read as the archive itself
 * would go on, from where it stands, so that nothing is lost or doubled at the seam. What can still come late is held
 * back until it is known what comes before it.
 */
export function liveLane(source: LogSource, standing: TailPosition, options: LiveOptions): Lane {
  return { first: standing.settled, read: () => read(source, standing, options) };
}

async function* read(
  source: LogSource,
  standing: TailPosition,
  { since = -Infinity, until = Infinity, matches, onGap, ...options }: LiveOptions,
): AsyncGenerator<readonly Timed[]> {
  if (until <= standing.settled) return;
  const isTimed = since !== -Infinity || until !== Infinity;
  const isWanted = ({ at }: Timed): boolean => (at === Infinity ? !isTimed : at >= since && at < until);
  const tail = new Tail(source, {
    ...options,
    begin: standing,
    untilPresent: true,
    keep: matches,
    onEvent: (event) => event.kind === 'gap' && onGap(event),
  });
  let held: Timed[] = [];
  for await (const logs of tail.batches()) {
    held = [...held, ...logs.map(timed)].toSorted(byTime);
    const { settled } = tail.position();
    const ready = held.filter(({ at }) => at < settled);
    held = held.slice(ready.length);
    const wanted = ready.filter(isWanted);
    if (wanted.length > 0) yield wanted;
    if (settled >= until) return;
  }
  const wanted = held.filter(isWanted);
  if (wanted.length > 0) yield wanted;
}

function timed(log: Log): Timed {
  return { at: parseTime(log.created_at) ?? Infinity, log };
}

function byTime(one: Timed, other: Timed): number {
  return one.at === other.at ? 0 : one.at - other.at;
}
