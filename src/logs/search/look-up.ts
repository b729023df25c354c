import { sideBySide } from '../../base/side-by-side.ts';
import type { Store } from '../../client/store/store.ts';
import { type IdKey, keyOf } from '../archive/index/filter.ts';
import { type IndexedColumns, SegmentIndex } from '../archive/index/segment-index.ts';
import { readIndex } from '../archive/index/store-index.ts';
import { READERS, type ReadSegmentOptions } from '../archive/read-segment.ts';
import { isRawSegment, type Segment } from '../archive/records/record.ts';
import { type IndexCache, makeIndex } from './index-cache.ts';

/** The ids to find: a match has one id of each list, as its entity or its actor. */
export type IdQuery = readonly (readonly string[])[];

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

/** Finds the parts of segments that may contain some ids, by indexes beside the segments, in the cache, or made for it. */
export class IndexLookup {
  readonly found = new Map<string, IndexedColumns>();
  readonly #store: Store;
  readonly #cache: IndexCache;
  readonly #query: readonly (readonly IdKey[])[];

  constructor(store: Store, cache: IndexCache, query: IdQuery) {
    this.#store = store;
    this.#cache = cache;
    this.#query = query.map((ids) => ids.map(keyOf));
  }

  /** Looks into the indexes that exist. Returns the segments of which an index can be made. */
  async look(segments: readonly Segment[]): Promise<Segment[]> {
    const lacking: Segment[] = [];
    const indexable = segments.filter((segment) => !isRawSegment(segment));
    const looks = sideBySide(indexable, SIDE_BY_SIDE, async (segment) => {
      const index = await this.#indexOf(segment);
      if (index) this.found.set(segment.sha256, index.find(this.#query));
      else lacking.push(segment);
    });
    for await (const _ of looks);
    return this.#cache.isUsable ? lacking : [];
  }

  /** Makes the indexes of segments, and looks into them. A segment that was changed gets none, and is read whole. */
  async make(segments: readonly Segment[], options: ReadSegmentOptions): Promise<void> {
    const made = sideBySide(segments, READERS, async (segment) => {
      const bytes = this.#cache.isUsable ? await makeIndex(this.#store, segment, options) : undefined;
      const index = opened(bytes, segment);
      if (bytes === undefined || index === undefined) return;
      this.#cache.write(segment.sha256, bytes);
      this.found.set(segment.sha256, index.find(this.#query));
    });
    for await (const _ of made);
  }

  // What is in a bucket is kept here. What is in a directory is as near as the cache.
  async #indexOf(segment: Segment): Promise<SegmentIndex | undefined> {
    const { isRemote } = this.#store;
    const kept = (): SegmentIndex | undefined => opened(this.#cache.read(segment.sha256), segment);
    const near = isRemote ? kept() : undefined;
    if (near) return near;
    const bytes = await readIndex(this.#store, segment);
    const index = opened(bytes, segment);
    if (index && bytes && isRemote) this.#cache.write(segment.sha256, bytes);
    return index ?? (isRemote ? undefined : kept());
  }
}

function opened(bytes: Uint8Array | undefined, segment: Segment): SegmentIndex | undefined {
  return bytes && SegmentIndex.of(bytes, segment);
}
