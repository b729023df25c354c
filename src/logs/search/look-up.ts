// Finds the parts of segments that may contain an id, by their indexes.

import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readOwnFileSync } from '../../base/files/own-file.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import { directoryOf, type PathsHost } from '../../cli/config/paths.ts';
import type { Store } from '../../client/store/store.ts';
import { isRawSegment, type Segment } from '../archive/records/record.ts';
import { type IndexedColumns, keyOf, MAX_INDEX_BYTES, readIndex, SegmentIndex } from '../archive/segment-index.ts';

/** The ids to find. A match has one id of each list as its entity or its actor. */
type IdQuery = readonly (readonly string[])[];

/** The columns by the SHA-256 of their segments. Segments that are not in the map must be read whole. */
export type Lookup = ReadonlyMap<string, IndexedColumns>;

/** Returns the columns of a segment to read and their sizes; no columns means the whole segment, which may be faster. */
export function partToRead(index: Lookup | undefined, { sha256, bytes, entries }: Segment) {
  const columns = index?.get(sha256);
  if (!columns || columns.wanted.length * 4 > columns.columns.length) return { columns: undefined, bytes, entries };
  const sum = (member: 0 | 1): number =>
    columns.wanted.reduce((all, at) => all + (columns.columns[at]?.[member] ?? 0), 0);
  return { columns, bytes: sum(0), entries: sum(1) };
}

const SIDE_BY_SIDE = 16;

/** Finds the parts of segments that may contain the ids. A segment without a usable index is not in the result. */
export async function lookUp(
  store: Store,
  system: PathsHost,
  query: IdQuery,
  segments: readonly Segment[],
): Promise<Lookup> {
  const keys = query.map((ids) => ids.map(keyOf));
  // Indexes of a bucket are kept in the cache of this machine: a search never writes into an archive.
  const cache = store.isRemote ? directoryOf(system, 'cache') : undefined;
  const found = new Map<string, IndexedColumns>();
  const indexable = segments.filter((segment) => !isRawSegment(segment));
  const looks = sideBySide(indexable, SIDE_BY_SIDE, async (segment) => {
    const index = await indexOf(store, segment, cache);
    if (index) found.set(segment.sha256, index.find(keys));
  });
  for await (const _ of looks);
  return found;
}

async function indexOf(store: Store, segment: Segment, cache: string | undefined): Promise<SegmentIndex | undefined> {
  const { sha256 } = segment;
  const file = cache === undefined ? undefined : path.join(cache, 'index', sha256.slice(0, 2), `${sha256}.idx`);
  const kept = file === undefined ? undefined : readKept(file, segment);
  if (kept) return kept;
  const bytes = await readIndex(store, segment);
  const index = bytes && SegmentIndex.of(bytes, segment);
  if (index && file !== undefined) keep(file, bytes);
  return index;
}

function readKept(file: string, segment: Segment): SegmentIndex | undefined {
  try {
    return SegmentIndex.of(readOwnFileSync(file, MAX_INDEX_BYTES), segment);
  } catch {
    return undefined;
  }
}

function keep(file: string, index: Uint8Array): void {
  try {
    makeDirectory(path.dirname(file));
    writeFileAtomicSync(file, index);
  } catch {
    // The next search reads it from the bucket again.
  }
}
