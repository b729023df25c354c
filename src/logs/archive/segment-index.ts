import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { isSvcError } from '../../base/errors.ts';
import type { Store } from '../../client/store/store.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { type Segment, unlessDamaged } from './records/record.ts';

/**
 * Bloom filters over the ids in a column of entries. A filter consists of 64-byte blocks of 16 words. The key of an id
 * selects one block and eight bits in it. A filter reports every id that was added, and wrongly about one other in 300.
 */
export const BLOCK_WORDS = 16;
const BLOCK_BYTES = BLOCK_WORDS * 4;

const BITS_PER_ID = 14;
const SMALLEST = 9;
/** A filter of class c has 9 × 2^c blocks: 576 bytes for 41 ids up to 37 kB for 21,000. */
const LARGEST_CLASS = 6;

export function blocksOf(sizeClass: number): number {
  return SMALLEST << sizeClass;
}

/** The initial hash as a signed 32-bit integer. With any other number, engines would use floating point in the loop. */
const BEGIN = 0x81_1c_9d_c5 | 0;

/** The hash of an id as two 32-bit numbers. Case is ignored, as in UUIDs. */
export interface IdKey {
  readonly place: number;
  readonly bits: number;
}

export function keyOf(id: string): IdKey {
  const text = id.toLowerCase();
  let one = BEGIN;
  let other = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul((other << 5) ^ (other >>> 27) ^ unit, 0x9e_37_79_b1);
  }
  return { place: mixed(one ^ (other >>> 15)), bits: mixed(other + one) };
}

/** Returns the key of an id in a block of lines, like {@link keyOf}; undefined without an id, which starts at -1. */
export function keyAt(
  block: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): IdKey | undefined {
  return start === -1 ? undefined : (keyIn(block, start, end) ?? keyOf(block.toString('utf8', start, end)));
}

/** Returns the key of an id from its bytes; undefined if it is not ASCII. */
function keyIn(block: Uint8Array, start: number, end: number): IdKey | undefined {
  let one = BEGIN;
  let other = end - start;
  for (let at = start; at < end; at += 1) {
    const byte = block[at] ?? 0;
    if (byte > 0x7f) return undefined;
    const unit = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul((other << 5) ^ (other >>> 27) ^ unit, 0x9e_37_79_b1);
  }
  return { place: mixed(one ^ (other >>> 15)), bits: mixed(other + one) };
}

// Mixes the bits, so that any change of the input changes about half of them.
function mixed(value: number): number {
  let mix = Math.imul(value ^ (value >>> 16), 0x85_eb_ca_6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2_b2_ae_35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** Returns the block number of an id. Half as many blocks halve the number, so that filters can be folded. */
export function placeOf({ place }: IdKey, blocks: number): number {
  return Math.floor((place * blocks) / 2 ** 32);
}

/** Multipliers that select one bit in each of the eight pairs of words of a block. */
const SALTS = new Int32Array([
  0x47_b6_13_7b, 0x44_97_4d_91, 0x88_24_ad_5b, 0xa2_b7_28_9d, 0x70_54_95_c7, 0x2d_f1_42_4b, 0x9e_fc_49_47,
  0x5c_6b_fb_31,
]);

/** Whether the block at `offset` (in words) may contain an id. */
export function mayHold(words: Uint32Array, offset: number, { bits }: IdKey): boolean {
  for (let pair = 0; pair < SALTS.length; pair += 1) {
    const bit = Math.imul(bits, SALTS[pair] ?? 0) >>> 26;
    if (((words[offset + pair * 2 + (bit >>> 5)] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

export interface BuiltFilter {
  readonly sizeClass: number;
  readonly words: Uint32Array;
}

/** Builds the filter of a column for any number of ids. */
export class FilterBuilder {
  readonly #words = new Uint32Array(blocksOf(LARGEST_CLASS) * BLOCK_WORDS);
  #ids = 0;

  add(key: IdKey): void {
    const offset = placeOf(key, blocksOf(LARGEST_CLASS)) * BLOCK_WORDS;
    const words = this.#words;
    let isNew = false;
    for (let pair = 0; pair < SALTS.length; pair += 1) {
      const bit = Math.imul(key.bits, SALTS[pair] ?? 0) >>> 26;
      const at = offset + pair * 2 + (bit >>> 5);
      const before = words[at] ?? 0;
      const after = (before | (1 << (bit & 31))) >>> 0;
      if (after === before) continue;
      words[at] = after;
      isNew = true;
    }
    if (isNew) this.#ids += 1;
  }

  /** Returns the filter with as few blocks as its ids need. */
  finish(): BuiltFilter {
    let sizeClass = 0;
    while (sizeClass < LARGEST_CLASS && this.#ids * BITS_PER_ID > blocksOf(sizeClass) * BLOCK_BYTES * 8) sizeClass += 1;
    let words: Uint32Array = this.#words;
    for (let each = LARGEST_CLASS; each > sizeClass; each -= 1) words = folded(words);
    return { sizeClass, words };
  }
}

/** Returns the filter with half as many blocks. */
function folded(words: Uint32Array): Uint32Array {
  const half = new Uint32Array(words.length / 2);
  for (let at = 0; at < words.length; at += 1) {
    const to = (at >>> 5) * BLOCK_WORDS + (at & 15);
    half[to] = (half[to] ?? 0) | (words[at] ?? 0);
  }
  return half;
}

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
