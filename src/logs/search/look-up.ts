// Finds the parts of segments that may contain an id, by their indexes.

import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { sha256Of, writeFileAtomicSync } from '../../base/files/draft.ts';
import { readOwnFileSync } from '../../base/files/own-file.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import { directoryOf, type PathsHost } from '../../cli/config/paths.ts';
import type { Store } from '../../client/store/store.ts';
import { LineScanner } from '../archive/line-scanner.ts';
import { inflateColumn, READERS, type ReadSegmentOptions } from '../archive/read-segment.ts';
import { isRawSegment, type Segment, unlessDamaged } from '../archive/records/record.ts';
import {
  AROUND_COLUMNS,
  IndexBuilder,
  type IndexedColumns,
  keyAt,
  keyOf,
  keyOfId,
  MAX_INDEX_BYTES,
  readIndex,
  SegmentIndex,
} from '../archive/segment-index.ts';

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

/** Finds the parts of segments that may contain the ids, by indexes in the archive, in the cache, or built for the search. */
export class IndexLookup {
  readonly found = new Map<string, IndexedColumns>();
  readonly #store: Store;
  readonly #cache: IndexCache;
  readonly #query: readonly (readonly number[])[];

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
    const indexes = sideBySide(segments, READERS, async (segment) => {
      const bytes = this.#cache.isUsable ? await makeIndex(this.#store, segment, options) : undefined;
      const index = opened(bytes, segment);
      if (bytes === undefined || index === undefined) return;
      this.#cache.write(segment.sha256, bytes);
      this.found.set(segment.sha256, index.find(this.#query));
    });
    for await (const _ of indexes);
  }

  // Indexes of a bucket are copied to the cache. A directory is as fast as the cache.
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

/** The indexes in the cache of this machine, by the hashes of their segments: a search never writes into an archive. */
export class IndexCache {
  #directory: string | undefined;

  constructor(system: PathsHost) {
    const cache = directoryOf(system, 'cache');
    this.#directory = cache && path.join(cache, 'index');
  }

  /** Whether the cache can be written, as far as is known. */
  get isUsable(): boolean {
    return this.#directory !== undefined;
  }

  read(segment: string): Uint8Array | undefined {
    if (this.#directory === undefined) return undefined;
    try {
      return readOwnFileSync(this.#fileOf(this.#directory, segment), MAX_INDEX_BYTES);
    } catch {
      return undefined;
    }
  }

  write(segment: string, index: Uint8Array): void {
    if (this.#directory === undefined) return;
    const file = this.#fileOf(this.#directory, segment);
    try {
      makeDirectory(path.dirname(file));
      writeFileAtomicSync(file, index);
    } catch {
      this.#directory = undefined;
    }
  }

  #fileOf(directory: string, segment: string): string {
    return path.join(directory, segment.slice(0, 2), `${segment}.idx`);
  }
}

/** The largest segment that is read into memory. svc commits after 64 MB of text, which is much smaller when compressed. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The end of a column: an empty block of deflate, after which nothing before it is needed. */
const COLUMN_END = Buffer.from([0, 0, 0xff, 0xff]);
const LINE_END = 0x0a;

/** Makes the index of a segment from its file; undefined if the file was changed or has no columns. */
export async function makeIndex(
  store: Store,
  segment: Segment,
  { onBytes, signal }: ReadSegmentOptions,
): Promise<Buffer | undefined> {
  if (segment.bytes > MAX_BYTES) return undefined;
  signal?.throwIfAborted();
  const read = await unlessDamaged(store.readRange(segment.path, 0, segment.bytes), 'local');
  if (read === undefined || sha256Of(read) !== segment.sha256) return undefined;
  onBytes?.(segment.bytes);
  const bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
  const index = new IndexBuilder();
  const addLines = lineReader(segment.path, index);
  const end = bytes.length - AROUND_COLUMNS.after;
  for (let from: number = AROUND_COLUMNS.before; from < end;) {
    const column = await firstColumn(bytes.subarray(from, end));
    if (column === undefined) return undefined;
    addLines(column.lines);
    index.endColumn(column.bytes);
    from += column.bytes.length;
  }
  return index.finish(segment.sha256);
}

/** Finds the first column. The bytes that end one can also be within one, which then does not end with a line. */
async function firstColumn(bytes: Buffer): Promise<{ readonly bytes: Buffer; readonly lines: Buffer } | undefined> {
  for (let at = bytes.indexOf(COLUMN_END); at !== -1; at = bytes.indexOf(COLUMN_END, at + 1)) {
    const column = bytes.subarray(0, at + COLUMN_END.length);
    const lines = await inflateColumn(column);
    if (lines.at(-1) === LINE_END) return { bytes: column, lines };
  }
  return undefined;
}

/** Returns a function that adds each of some lines to an index. */
function lineReader(path: string, index: IndexBuilder): (lines: Buffer) => void {
  const scanner = new LineScanner();
  const entity = scanner.member('entity_id');
  const actor = scanner.member('actor_id');
  return (lines) =>
    scanner.read(lines, path, (log) => {
      if (log === undefined) index.add(keyAt(lines, entity), keyAt(lines, actor));
      else index.add(keyOfId(log.entity_id), keyOfId(log.actor_id));
    });
}
