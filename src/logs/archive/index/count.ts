import type { Bucket, Interval } from '../../count.ts';
import type { CountOptions } from '../count-lines.ts';
import { indexOf } from '../manifest.ts';
import type { Segment } from '../record.ts';
import { type ArchiveStore, sideBySide } from '../store.ts';
import { IndexFile } from './file.ts';
import type { IndexRef } from './ref.ts';
import { type CountedEntries, entriesOf } from './tally.ts';
import { unlessDamaged } from './upkeep.ts';

interface Tallied {
  readonly sha256: string;
  readonly entries: readonly CountedEntries[];
}

const SIDE_BY_SIDE = 4;

/** Counts segments by their tallies, and gives those that have none: their entries must be counted one by one. */
export async function countTallies(
  store: ArchiveStore,
  refs: readonly IndexRef[],
  segments: readonly Segment[],
  { onGroup, ...interval }: CountOptions,
): Promise<readonly Segment[]> {
  // Two segments of late entries can be equal.
  const left = new Map<string, number>();
  for (const { sha256 } of segments) left.set(sha256, (left.get(sha256) ?? 0) + 1);
  const reading = sideBySide(indexOf(segments, refs), SIDE_BY_SIDE, (ref) =>
    unlessDamaged(readTallies(store, ref, left)),
  );
  for await (const tallies of reading) {
    for (const { sha256, entries } of tallies ?? []) {
      const times = left.get(sha256) ?? 0;
      if (times === 0 || entries.some(([, bucket]) => isWithin(bucket, interval) === undefined)) continue;
      left.delete(sha256);
      for (const [log, bucket] of entries)
        if (isWithin(bucket, interval)) onGroup(log, { ...bucket, count: bucket.count * times });
    }
  }
  return segments.filter(({ sha256 }) => left.has(sha256));
}

/** The tallies of segments that are to be counted. */
async function readTallies(
  store: ArchiveStore,
  ref: IndexRef,
  wanted: ReadonlyMap<string, unknown>,
): Promise<Tallied[]> {
  const file = await IndexFile.open(store, ref);
  const places = file.segments.flatMap(({ sha256 }, at) => (wanted.has(sha256) ? at : []));
  const [first = 0, last = -1] = [places[0], places.at(-1)];
  const tallies = await file.tallies(first, last + 1);
  return tallies.flatMap((tally, at) => {
    const { sha256 = '' } = file.segments[first + at] ?? {};
    const entries = tally && wanted.has(sha256) ? entriesOf(tally) : undefined;
    return entries ? { sha256, entries } : [];
  });
}

/** Whether all of a bucket is within an interval; undefined where only some of it may be. */
function isWithin({ first, last }: Bucket, { since, until }: Interval): boolean | undefined {
  if (first >= since && last < until) return true;
  return last < since || first >= until ? false : undefined;
}
