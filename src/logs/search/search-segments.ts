// Searches the segments of an archive in order of time.

import type { Store } from '../../client/store/store.ts';
import type { Log } from '../../schema/log.ts';
import type { Bounds } from '../archive/manifest.ts';
import { READERS, readSegment, type ReadSegmentOptions } from '../archive/read-segment.ts';
import type { Segment } from '../archive/records/record.ts';
import { byTime, type Entry, entryOf, NO_TIME, type TailPosition, type TimeRange } from '../entry.ts';
import type { LogSource } from '../read-range.ts';
import { Tail } from '../tail/follow.ts';
import { type Lookup, partToRead } from './look-up.ts';

export type Timed = Pick<Entry, 'at' | 'log'>;

/** A source of entries in order of time, read when they are needed. */
export interface EntrySource {
  readonly first: number;
  /** Whether the source is a segment: it may start before its turn, and is read to its end so that it is checked. */
  readonly isSegment?: boolean;
  read(): AsyncGenerator<readonly Timed[]>;
}

export interface SearchOptions extends Bounds, ReadSegmentOptions {
  readonly segments: readonly Segment[];
  readonly matches: (log: Log) => boolean;
  /** Values: every match contains one of them, so other lines need not be parsed. */
  readonly among?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The columns of segments that can contain matches, by the index. */
  readonly index?: Lookup | undefined;
  /** Another source to merge with the segments, such as the service. */
  readonly more?: EntrySource | undefined;
  readonly onRead?: ((entries: number) => void) | undefined;
}

const BATCH_SIZE = 500;

/**
 * Yields matching entries in order of time, those without a time last. Every opened segment is read to its end, and so
 * checked.
 * @throws SvcError `checksum_mismatch` naming a changed segment
 */
export async function* searchSegments(store: Store, options: SearchOptions): AsyncGenerator<readonly Log[]> {
  let left = options.limit ?? Infinity;
  const isOver = (): boolean => left <= 0;
  const sources = options.segments.map((segment) => segmentSource(store, segment, options));
  const all = options.more ? [...sources, options.more] : sources;
  for await (const batch of merged(all, Math.min(left, BATCH_SIZE), isOver)) {
    if (isOver()) continue;
    const limited = batch.slice(0, left);
    left -= limited.length;
    yield limited.map(({ log }) => log);
  }
}

function segmentSource(store: Store, segment: Segment, options: SearchOptions): EntrySource {
  const { columns, entries } = partToRead(options.index, segment);
  return {
    first: segment.first === null ? NO_TIME : Date.parse(segment.first),
    isSegment: true,
    async *read() {
      for await (const batch of readSegment(store, segment, { ...options, columns })) {
        const matching = batch.map(entryOf).filter((one) => isWithin(one, options) && options.matches(one.log));
        if (matching.length > 0) yield matching;
      }
      options.onRead?.(entries);
    },
  };
}

function isWithin({ at }: Timed, { since = -Infinity, until = Infinity }: Bounds): boolean {
  return at === NO_TIME ? since === -Infinity && until === Infinity : at >= since && at < until;
}

export interface LiveOptions extends Bounds {
  readonly overlapMs: number;
  readonly retentionMs: number;
  readonly matches: (log: Log) => boolean;
  readonly onGap: (gap: TimeRange) => void;
}

/**
 * A source of the service's entries after the end of the archive, read as the next run would: without loss or duplicates.
 * Entries are held back until no late entry can precede them.
 */
export function liveEntries(source: LogSource, position: TailPosition, options: LiveOptions): EntrySource {
  return { first: position.settled, read: () => read(source, position, options) };
}

async function* read(
  source: LogSource,
  position: TailPosition,
  { since, until = Infinity, matches, onGap, ...options }: LiveOptions,
): AsyncGenerator<readonly Timed[]> {
  if (until <= position.settled) return;
  const isWanted = (one: Timed): boolean => isWithin(one, { since, until });
  const tail = new Tail(source, {
    ...options,
    begin: position,
    untilPresent: true,
    keep: matches,
    onEvent: (event) => event.kind === 'gap' && onGap(event),
  });
  let heldBack: Entry[] = [];
  for await (const logs of tail.batches()) {
    heldBack = [...heldBack, ...logs.map(entryOf)].toSorted(byTime);
    const { settled } = tail.position();
    const ready = heldBack.filter(({ at }) => at < settled);
    heldBack = heldBack.slice(ready.length);
    const wanted = ready.filter(isWanted);
    if (wanted.length > 0) yield wanted;
    if (settled >= until) return;
  }
  const wanted = heldBack.filter(isWanted);
  if (wanted.length > 0) yield wanted;
}

/**
 * Merges sources by time. A source opens when the others have reached its first entry, so little of it is in memory. Once
 * `isOver` returns true, no source opens any more, and open segments are read to their ends.
 */
export async function* merged(
  sources: readonly EntrySource[],
  batchSize = BATCH_SIZE,
  isOver = (): boolean => false,
): AsyncGenerator<readonly Timed[]> {
  const waiting = sources
    .map((source, order) => new OpenSource(source, order))
    .toSorted((one, other) => one.source.first - other.source.first);
  let open: OpenSource[] = [];
  let batch: Timed[] = [];
  try {
    while (waiting.length > 0 || open.length > 0) {
      if (isOver()) await closeAll([...waiting.splice(0), ...open.filter(({ source }) => !source.isSegment)]);
      open = open.toSorted(inTurn);
      const [source, other] = open;
      const [due] = waiting;
      if (due && (source === undefined || due.source.first <= source.at)) {
        for (const next of waiting.slice(0, READERS)) next.beginEarly();
        waiting.shift();
        if (await due.fill()) open.push(due);
        continue;
      }
      if (source === undefined) continue;
      const limit = Math.min(due?.source.first ?? Infinity, other?.at ?? Infinity);
      source.moveInto(batch, limit);
      if (batch.length >= batchSize) {
        yield batch;
        batch = [];
      }
      if (!(await source.fill())) open.shift();
    }
    if (batch.length > 0) yield batch;
  } finally {
    await closeAll([...open, ...waiting]);
  }
}

async function closeAll(sources: readonly OpenSource[]): Promise<void> {
  await Promise.all(sources.map((source) => source.close()));
}

class OpenSource {
  readonly source: EntrySource;
  readonly order: number;
  readonly #batches: AsyncGenerator<readonly Timed[]>;
  #begun: Promise<IteratorResult<readonly Timed[]>> | undefined;
  #batch: readonly Timed[] = [];
  #index = 0;

  constructor(source: EntrySource, order: number) {
    this.source = source;
    this.order = order;
    this.#batches = source.read();
  }

  get at(): number {
    return this.#batch[this.#index]?.at ?? Infinity;
  }

  beginEarly(): void {
    if (!this.source.isSegment) return;
    this.#begun ??= this.#batches.next();
    // `fill` reports the failure when it is the source's turn.
    this.#begun.catch(() => undefined);
  }

  /** Makes the next entry available; returns false at the end. */
  async fill(): Promise<boolean> {
    while (this.#index >= this.#batch.length) {
      const { done, value } = await (this.#begun ?? this.#batches.next());
      this.#begun = undefined;
      if (done === true) return false;
      this.#batch = value;
      this.#index = 0;
    }
    return true;
  }

  /** Moves the next entry into the batch, and those after it that are before `limit`. */
  moveInto(batch: Timed[], limit: number): void {
    for (let isFirst = true; ; isFirst = false) {
      const entry = this.#batch[this.#index];
      if (entry === undefined || (!isFirst && entry.at >= limit)) return;
      batch.push(entry);
      this.#index += 1;
    }
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined);
  }
}

function inTurn(one: OpenSource, other: OpenSource): number {
  return one.at - other.at || one.order - other.order;
}
