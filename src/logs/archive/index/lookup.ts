import { sideBySide } from '../../../base/side-by-side.ts';
import type { FileStore } from '../../../client/store/store.ts';
import type { IndexRef } from '../records/index-ref.ts';
import type { Segment } from '../records/record.ts';
import { type Group, type IndexedSegment, IndexFile } from './file.ts';
import { BLOCK_WORDS, blocksOf, type IdKey, keyOf, mayHold, placeOf } from './filter.ts';
import { unlessDamaged } from './upkeep.ts';

/** The ids to find: a match has one id of each list, as its entity or its actor. */
export type IdQuery = readonly (readonly string[])[];

/** The columns of an indexed segment, and those that may contain matches. */
export interface IndexedColumns {
  readonly columns: IndexedSegment['columns'];
  /** The numbers of the columns that may contain matches, in order. */
  readonly wanted: readonly number[];
}

export interface Lookup {
  /** The columns by the SHA-256 of their segments. Segments that are not in the map are not indexed and must be read whole. */
  readonly bySegment: ReadonlyMap<string, IndexedColumns>;
  /** The number of index files that are damaged or gone. */
  readonly damaged: number;
}

/** Returns the columns of a segment to read and their sizes; no columns means the whole segment, which may be faster. */
export function partToRead(index: Lookup | undefined, { sha256, bytes, entries }: Segment) {
  const columns = index?.bySegment.get(sha256);
  if (!columns || columns.wanted.length * 4 > columns.columns.length) return { columns: undefined, bytes, entries };
  const sum = (member: 0 | 1): number =>
    columns.wanted.reduce((all, at) => all + (columns.columns[at]?.[member] ?? 0), 0);
  return { columns, bytes: sum(0), entries: sum(1) };
}

const SIDE_BY_SIDE = 16;

/** Finds the columns that may contain entries with the ids. Damaged index files are skipped. */
export async function lookUp(store: FileStore, refs: readonly IndexRef[], query: IdQuery): Promise<Lookup> {
  const bySegment = new Map<string, IndexedColumns>();
  if (query.length === 0) return { bySegment, damaged: 0 };
  const keys = query.map((ids) => ids.map(keyOf));
  let damaged = 0;
  const looks = sideBySide(refs, SIDE_BY_SIDE, (ref) => unlessDamaged(lookInto(store, ref, keys), 'local'));
  for await (const found of looks) {
    if (found === undefined) damaged += 1;
    else for (const [sha256, columns] of found) bySegment.set(sha256, columns);
  }
  return { bySegment, damaged };
}

async function lookInto(
  store: FileStore,
  ref: IndexRef,
  query: readonly (readonly IdKey[])[],
): Promise<(readonly [string, IndexedColumns])[]> {
  const file = await IndexFile.open(store, ref);
  const wanted = file.segments.map((): number[] => []);
  const groups = file.groups.filter(({ columns }) => columns.length > 0);
  await Promise.all(
    groups.map(async (group) => {
      const hits = await Promise.all(query.map((keys) => Promise.all(keys.map((key) => holding(file, group, key)))));
      for (const [at, { segment, column }] of group.columns.entries()) {
        const isHit = hits.every((each) => each.some((held) => held[at]));
        if (isHit) wanted[segment]?.push(column);
      }
    }),
  );
  return file.segments.map(({ sha256, columns }, at) => {
    const found = (wanted[at] ?? []).toSorted((one, other) => one - other);
    return [sha256, { columns, wanted: found }] as const;
  });
}

/** Returns for each column of a group whether it may contain an id. */
async function holding(file: IndexFile, group: Group, key: IdKey): Promise<boolean[]> {
  const row = placeOf(key, blocksOf(group.sizeClass));
  const words = new Uint32Array(Uint8Array.from(await file.rows(group, row, row + 1)).buffer);
  return group.columns.map((_, at) => mayHold(words, at * BLOCK_WORDS, key));
}
