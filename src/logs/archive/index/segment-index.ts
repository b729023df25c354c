import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { isSvcError } from '../../../base/errors.ts';
import type { Store } from '../../../client/store/store.ts';
import { parsedJson } from '../../../schema/json-value.ts';
import { type Segment, unlessDamaged } from '../records/record.ts';
import {
  BLOCK_BYTES,
  BLOCK_WORDS,
  blocksOf,
  FilterBuilder,
  type IdKey,
  keyOf,
  LARGEST_CLASS,
  mayHold,
  placeOf,
} from './filter.ts';

// The index of a segment is a cache: it can make a search faster and is never an answer. No record names it, and it can be
// removed at any time. Its text is a line of JSON; filters follow, one for each column, and the hash of all before it.

/** The folder of indexes in an archive. */
export const INDEX = '_index/';

/** Returns the path of the index of the segment at a path. */
export function indexPath(segment: string): string {
  return `${INDEX}${segment}.idx`;
}

const count = z.int().check(z.nonnegative());

/** A column: its compressed bytes, its entries, the size class of its filter, and the hash of its bytes. */
const columnSchema = z.tuple([count, count, count.check(z.maximum(LARGEST_CLASS)), z.string()]);

const headSchema = z.looseObject({
  version: z.literal(2),
  /** The SHA-256 of the segment. */
  segment: z.string(),
  columns: z.array(columnSchema),
});

type Column = z.infer<typeof columnSchema>;

/** The columns of a segment, and those that may contain matches. */
export interface IndexedColumns {
  readonly columns: readonly Column[];
  /** The numbers of the columns that may contain matches, in order. */
  readonly wanted: readonly number[];
}

/** The bytes of a segment before its first column, and after its last one. */
export const AROUND_COLUMNS = { before: 10, after: 10 } as const;

/** The largest accepted index. A segment has at most some dozens of columns, each with a filter of at most 37 kB. */
export const MAX_INDEX_BYTES = 64 * 1024 * 1024;

const HASH_BYTES = 32;
const LINE_END = 0x0a;

/** Returns the part of a SHA-256 that an index stores of a column. */
export function shortHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

/** Builds the index of a segment, column by column. */
export class IndexBuilder {
  readonly #columns: Column[] = [];
  readonly #filters: Uint8Array[] = [];
  #filter = new FilterBuilder();
  #entries = 0;

  /** The number of entries in the column that has not ended. */
  get entries(): number {
    return this.#entries;
  }

  /** Adds an entry by its ids. */
  add(entityId: string | null | undefined, actorId: string | null | undefined): void {
    this.addKeys(keyOfId(entityId), keyOfId(actorId));
  }

  /** Adds an entry by the keys of its ids. */
  addKeys(entity: IdKey | undefined, actor: IdKey | undefined): void {
    this.#entries += 1;
    if (entity) this.#filter.add(entity);
    if (actor) this.#filter.add(actor);
  }

  /** Ends a column. `bytes` are its compressed bytes in the segment. */
  endColumn(bytes: Uint8Array): void {
    const { sizeClass, words } = this.#filter.finish();
    this.#columns.push([bytes.length, this.#entries, sizeClass, shortHash(bytes)]);
    this.#filters.push(new Uint8Array(words.buffer));
    this.#filter = new FilterBuilder();
    this.#entries = 0;
  }

  /** Returns the index of the segment with this SHA-256. */
  finish(segment: string): Buffer {
    const head = Buffer.from(`${JSON.stringify({ version: 2, segment, columns: this.#columns })}\n`);
    const content = Buffer.concat([head, ...this.#filters]);
    return Buffer.concat([content, hashOf(content)]);
  }
}

/** Returns the key of an id; undefined if an entry has none. */
export function keyOfId(id: string | null | undefined): IdKey | undefined {
  return typeof id === 'string' ? keyOf(id) : undefined;
}

/** The index of a segment, checked. */
export class SegmentIndex {
  readonly columns: readonly Column[];
  readonly #filters: readonly Uint32Array[];

  private constructor(columns: readonly Column[], filters: Uint8Array) {
    this.columns = columns;
    let from = 0;
    this.#filters = columns.map(([, , sizeClass]) => {
      const filter = filters.slice(from, from + blocksOf(sizeClass) * BLOCK_BYTES);
      from += filter.length;
      return new Uint32Array(filter.buffer);
    });
  }

  /** Reads an index; undefined if it is damaged or of another segment. */
  static of(bytes: Uint8Array, segment: Pick<Segment, 'sha256' | 'bytes' | 'entries'>): SegmentIndex | undefined {
    const content = bytes.subarray(0, -HASH_BYTES);
    if (!hashOf(content).equals(bytes.subarray(-HASH_BYTES))) return undefined;
    const end = content.indexOf(LINE_END) + 1;
    const { data } = headSchema.safeParse(parsedJson(Buffer.from(content.subarray(0, end)).toString()));
    if (data?.segment !== segment.sha256) return undefined;
    const filters = Uint8Array.from(content.subarray(end));
    const sum = (of: (column: Column) => number): number => data.columns.reduce((all, one) => all + of(one), 0);
    const isOfSegment =
      sum(([length]) => length) + AROUND_COLUMNS.before + AROUND_COLUMNS.after === segment.bytes &&
      sum(([, entries]) => entries) === segment.entries &&
      sum(([, , sizeClass]) => blocksOf(sizeClass) * BLOCK_BYTES) === filters.length;
    return isOfSegment ? new SegmentIndex(data.columns, filters) : undefined;
  }

  /** Returns the columns that may contain entries with one id of each list. */
  find(query: readonly (readonly IdKey[])[]): IndexedColumns {
    const wanted = [...this.columns.keys()].filter((column) =>
      query.every((keys) => keys.some((key) => this.mayHold(column, key))),
    );
    return { columns: this.columns, wanted };
  }

  /** Whether a column may contain an id. */
  mayHold(column: number, key: IdKey): boolean {
    const words = this.#filters[column] ?? new Uint32Array();
    return mayHold(words, placeOf(key, words.length / BLOCK_WORDS) * BLOCK_WORDS, key);
  }
}

function hashOf(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}

/** Writes the index of a segment beside the segments. Where that fails, a search makes it. The caller must have the lock. */
export async function writeIndex(store: Store, { path: segment }: Pick<Segment, 'path'>, index: Uint8Array) {
  try {
    await store.create(indexPath(segment), index);
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
}

/** Reads the bytes of the index that is beside the segments; undefined without one, and where it cannot be read. */
export function readIndex(store: Store, { path: segment }: Pick<Segment, 'path'>): Promise<Uint8Array | undefined> {
  return unlessDamaged(store.read(indexPath(segment), MAX_INDEX_BYTES), 'local');
}
