import path from 'node:path';
import { Draft, sha256Of } from '../../../base/files/draft.ts';
import { sideBySide } from '../../../base/side-by-side.ts';
import type { FileStore } from '../../../client/store/store.ts';
import { INDEX, type IndexRef } from '../records/index-ref.ts';
import { dayIn, UNKNOWN_DAY } from '../records/record.ts';
import { type ColumnInfo, type Group, groupsOf, headOf, type IndexedSegment, rowsPerPage, shortHash } from './file.ts';
import { BLOCK_BYTES, blocksOf, FilterBuilder, type IdKey, keyOf } from './filter.ts';

/** A source for a new index file: new segments, or another index file. */
export interface IndexPart {
  readonly segments: readonly IndexedSegment[];
  readonly groups: readonly Group[];
  /** Reads the blocks of all columns of a group, in the rows from `from` to before `to`. */
  rows(group: Group, from: number, to: number): Promise<Uint8Array>;
}

/** A column's facts and filter for the index. */
export interface BuiltColumn {
  readonly info: ColumnInfo;
  readonly filter: Uint8Array;
}

/** Collects the facts about a column's entries for the index. */
export class ColumnContent {
  entries = 0;
  #first: number | null = null;
  #last: number | null = null;
  readonly #filter = new FilterBuilder();

  add(at: number | undefined, entityId?: string | null, actorId?: string | null): void {
    this.entries += 1;
    if (at !== undefined) {
      this.#first = Math.min(this.#first ?? at, at);
      this.#last = Math.max(this.#last ?? at, at);
    }
    if (typeof entityId === 'string') this.addId(keyOf(entityId));
    if (typeof actorId === 'string') this.addId(keyOf(actorId));
  }

  addId(key: IdKey): void {
    this.#filter.add(key);
  }

  /** Returns the column with all added entries. `bytes` are its compressed bytes in the segment. */
  built(bytes: Uint8Array): BuiltColumn {
    const { sizeClass, words } = this.#filter.finish();
    const filter = new Uint8Array(words.buffer);
    const hashes = [shortHash(bytes), shortHash(filter)] as const;
    return { info: [bytes.length, this.entries, this.#first, this.#last, sizeClass, ...hashes], filter };
  }
}

/** Makes a new segment a part of an index file. */
export function partOf(sha256: string, columns: readonly BuiltColumn[]): IndexPart {
  const segments = [{ sha256, columns: columns.map(({ info }) => info) }];
  return {
    segments,
    groups: groupsOf(segments),
    async rows(group, from, to) {
      const filters = group.columns.flatMap(({ column }) => columns[column]?.filter ?? []);
      return interleaved(
        filters.map((filter) => filter.subarray(from * BLOCK_BYTES, to * BLOCK_BYTES)),
        to - from,
      );
    },
  };
}

/** Joins the rows of several parts: the first row of each, then the second of each. */
function interleaved(pieces: readonly Uint8Array[], rows: number): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (let row = 0; row < rows; row += 1) {
    for (const piece of pieces) {
      const width = piece.length / rows;
      all.set(piece.subarray(row * width, (row + 1) * width), at);
      at += width;
    }
  }
  return all;
}

const CHUNK_BYTES = 4 * 1024 * 1024;
const SIDE_BY_SIDE = 8;

/** Writes an index file for the segments of some records. `day` is the newest of the segments' days. */
export async function writeIndex(
  store: FileStore,
  { from, to, day }: { readonly from: number; readonly to: number; readonly day: string },
  parts: readonly IndexPart[],
): Promise<IndexRef> {
  const draft = await Draft.begin(path.join(store.workDirectory, 'index'));
  try {
    const segments = parts.flatMap((part) => part.segments);
    const pages: string[][] = [];
    for (const group of groupsOf(segments)) pages.push(await writeGroup(draft, group, parts));
    const head = headOf({ segments, pages });
    await draft.write(head);
    const sealed = await draft.seal();
    const hash = sha256Of(head);
    const range = [from, to].map((each) => String(each).padStart(8, '0')).join('-');
    const file = `${INDEX}date=${day}/${range}-${hash.slice(0, 12)}.idx`;
    await store.create(file, { path: draft.path, ...sealed });
    return { path: file, from, to, bytes: sealed.bytes, head_bytes: head.length, head_sha256: hash };
  } finally {
    await draft.discard();
  }
}

/** Writes the filters of a group, and returns the hashes of its pages. */
async function writeGroup(draft: Draft, group: Group, parts: readonly IndexPart[]): Promise<string[]> {
  const sources = parts.flatMap((part) => {
    const own = part.groups[group.sizeClass];
    return own && own.columns.length > 0 ? { part, own } : [];
  });
  const hashes: string[] = [];
  if (sources.length === 0) return hashes;
  const rowBytes = group.columns.length * BLOCK_BYTES;
  const perPage = rowsPerPage(group);
  let step = perPage;
  while (step < 2 ** group.sizeClass && step * 2 * rowBytes <= CHUNK_BYTES) step *= 2;
  for (let from = 0; from < blocksOf(group.sizeClass); from += step) {
    const pieces: Uint8Array[] = [];
    const reading = sideBySide(sources, SIDE_BY_SIDE, ({ part, own }) => part.rows(own, from, from + step));
    for await (const piece of reading) pieces.push(piece);
    const bytes = interleaved(pieces, step);
    for (let at = 0; at < bytes.length; at += perPage * rowBytes)
      hashes.push(shortHash(bytes.subarray(at, at + perPage * rowBytes)));
    await draft.write(bytes);
  }
  return hashes;
}

/** Returns the newest day in the paths; `unknown` only if no path has a date. */
export function newestDay(paths: readonly string[]): string {
  const days = paths.map(dayIn).filter((day) => day !== UNKNOWN_DAY);
  return days.toSorted().at(-1) ?? UNKNOWN_DAY;
}
