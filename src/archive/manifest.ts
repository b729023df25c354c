import { readRecords } from './chain.ts';
import { Coverage } from './coverage.ts';
import { noArchive } from './no-archive.ts';
import { type BeginRecord, damaged, type Link, recordPath, type Segment } from './record.ts';
import type { ArchiveStore } from './store.ts';

/** A half-open stretch of time, in epoch milliseconds; undefined where it has no end on that side. */
export interface Bounds {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** What an archive is of, what it covers, and which of its segments can hold entries of a stretch of time. */
export interface Manifest {
  readonly first: BeginRecord;
  readonly last: Link;
  readonly coverage: Coverage;
  /** In order of their records. Those without any time are among them only where the stretch has no end. */
  readonly segments: readonly Segment[];
  /** How many segments there are in all. */
  readonly allSegments: number;
}

/**
 * Reads the manifest of an archive, with its chain checked.
 * @throws SvcError `not_found` where there is no archive, `altered` where it is damaged, `config` where it is newer
 */
export async function readManifest(store: ArchiveStore, bounds: Bounds = {}): Promise<Manifest> {
  const coverage = new Coverage();
  const segments: Segment[] = [];
  let allSegments = 0;
  let [first, last]: [BeginRecord | undefined, Link | undefined] = [undefined, undefined];
  for await (const link of readRecords(store)) {
    last = link;
    const { record } = link;
    coverage.add(record);
    if (record.kind === 'begin') first = record;
    if (record.kind !== 'segments') continue;
    allSegments += record.segments.length;
    segments.push(...record.segments.filter((segment) => isWithin(segment, bounds)));
  }
  if (last === undefined) throw await noArchive(store);
  if (first === undefined) throw damaged(recordPath(0), 'it is missing');
  return { first, last, coverage, segments, allSegments };
}

function isWithin({ first, last }: Segment, { since, until }: Bounds): boolean {
  if (first === null || last === null) return since === undefined && until === undefined;
  return Date.parse(last) >= (since ?? -Infinity) && Date.parse(first) < (until ?? Infinity);
}
