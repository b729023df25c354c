// The index of a segment: a cache that makes searches faster, and that anybody may delete. No record names it. A column is a
// block of successive entries that can be decompressed alone. The index is one line of JSON, then the sorted keys of each column,
// then the SHA-256 of both.

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { isSvcError } from '../../base/errors.ts';
import type { Store } from '../../client/store/store.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { type Segment, unlessDamaged } from './records/record.ts';

/** The folder of indexes in an archive. */
export const INDEX = '_index/';

const SUFFIX = '.idx';

/** Returns the path of the index of the segment at a path. */
export function indexPath(segment: string): string {
  return `${INDEX}${segment}${SUFFIX}`;
}

/** The indexes of the first version, each for the segments of several records. Nothing reads them any more. */
const FIRST_VERSION = /^_index\/date=[^/]+\/\d{8,}-\d{8,}-[0-9a-f]{12}\.idx$/;

/** Whether a path has the form of an index of the first version. */
export function isFirstIndex(path: string): boolean {
  return FIRST_VERSION.test(path);
}

/** Returns the path of the segment whose index has a path; undefined if no index has it. */
export function segmentIndexedAt(path: string): string | undefined {
  return path.endsWith(SUFFIX) ? path.slice(INDEX.length, -SUFFIX.length) : undefined;
}

const count = z.int().check(z.nonnegative());

/** A column: its compressed bytes, its entries, its keys, and the hash of its bytes. */
const columnSchema = z.tuple([count, count, count, z.string()]);

const VERSION = 3;

const headSchema = z.looseObject({
  version: z.literal(VERSION),
  /** The SHA-256 of the segment. */
  segment: z.string(),
  columns: z.array(columnSchema),
});

type Column = z.infer<typeof columnSchema>;

/** The columns of a segment, with a list of the columns that may contain matches. */
export interface IndexedColumns {
  readonly columns: readonly Column[];
  /** The numbers of the columns that may contain matches, in order. */
  readonly wanted: readonly number[];
}

/** The bytes of a segment before its first column, and after its last one. */
export const AROUND_COLUMNS = { before: 10, after: 10 } as const;

/** The largest accepted index. A segment has at most some dozens of columns, each with at most 20,000 ids. */
export const MAX_INDEX_BYTES = 64 * 1024 * 1024;

/** The size of a key. With three bytes, about 1 in 1,000 absent ids wrongly seems to be in a column of 20,000 ids. */
const KEY_BYTES = 3;
const HASH_BYTES = 32;
const LINE_END = 0x0a;

/** Returns the part of a SHA-256 that an index stores of a column. */
export function shortHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

/** The first hash, and the prime, of FNV-1a. As a signed number the hash stays an integer in the loop. */
const BEGIN = 0x81_1c_9d_c5 | 0;
const PRIME = 0x01_00_01_93;

/** Returns the key of an id: a hash of 24 bits. Case is ignored, as in UUIDs. */
export function keyOf(id: string): number {
  let hash = BEGIN;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    if (code > 0x7f && id !== id.toLowerCase()) return keyOf(id.toLowerCase());
    hash = Math.imul(hash ^ (code >= 0x41 && code <= 0x5a ? code | 0x20 : code), PRIME);
  }
  return folded(hash);
}

/** Returns the key of the id in a range of bytes: the same as {@link keyOf} of its text. Undefined if `start` is -1, for no id. */
export function keyAt(
  block: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): number | undefined {
  if (start === -1) return undefined;
  let hash = BEGIN;
  for (let at = start; at < end; at += 1) {
    const byte = block[at] ?? 0;
    if (byte > 0x7f) return keyOf(block.toString('utf8', start, end));
    hash = Math.imul(hash ^ (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte), PRIME);
  }
  return folded(hash);
}

function folded(hash: number): number {
  return (hash ^ (hash >>> 24)) & 0xff_ff_ff;
}

/** Returns the key of an id; undefined if an entry has none. */
export function keyOfId(id: string | null | undefined): number | undefined {
  return typeof id === 'string' ? keyOf(id) : undefined;
}

/** Builds the index of a segment, column by column. */
export class IndexBuilder {
  readonly #columns: Column[] = [];
  readonly #written: Buffer[] = [];
  #keys: number[] = [];
  #entries = 0;

  /** The number of entries in the column that has not ended. */
  get entries(): number {
    return this.#entries;
  }

  /** Adds an entry by the keys of its ids. */
  add(entity: number | undefined, actor: number | undefined): void {
    this.#entries += 1;
    if (entity !== undefined) this.#keys.push(entity);
    if (actor !== undefined) this.#keys.push(actor);
  }

  /** Ends a column. `bytes` are its compressed bytes in the segment. */
  endColumn(bytes: Uint8Array): void {
    const written = sortedKeys(this.#keys);
    this.#columns.push([bytes.length, this.#entries, written.length / KEY_BYTES, shortHash(bytes)]);
    this.#written.push(written);
    this.#keys = [];
    this.#entries = 0;
  }

  /** Returns the index of the segment with this SHA-256. */
  finish(segment: string): Buffer {
    const head = Buffer.from(`${JSON.stringify({ version: VERSION, segment, columns: this.#columns })}\n`);
    const content = Buffer.concat([head, ...this.#written]);
    return Buffer.concat([content, hashOf(content)]);
  }
}

/** Returns keys in order, each once. */
function sortedKeys(keys: readonly number[]): Buffer {
  const written = Buffer.alloc(keys.length * KEY_BYTES);
  let size = 0;
  let before: number | undefined;
  for (const key of new Uint32Array(keys).toSorted()) {
    if (key !== before) size = written.writeUIntLE(key, size, KEY_BYTES);
    before = key;
  }
  return written.subarray(0, size);
}

/** The index of a segment, checked. */
export class SegmentIndex {
  readonly columns: readonly Column[];
  readonly #keys: readonly Buffer[];

  private constructor(columns: readonly Column[], keys: Buffer) {
    this.columns = columns;
    let from = 0;
    this.#keys = columns.map(([, , count]) => keys.subarray(from, (from += count * KEY_BYTES)));
  }

  /** Reads an index; undefined if it is damaged or of another segment. */
  static of(bytes: Uint8Array, segment: Pick<Segment, 'sha256' | 'bytes' | 'entries'>): SegmentIndex | undefined {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, Math.max(0, bytes.length - HASH_BYTES));
    if (!hashOf(content).equals(bytes.subarray(content.length))) return undefined;
    const end = content.indexOf(LINE_END) + 1;
    const { data } = headSchema.safeParse(parsedJson(content.toString('utf8', 0, end)));
    if (data?.segment !== segment.sha256) return undefined;
    const keys = content.subarray(end);
    const sum = (of: 0 | 1 | 2): number => data.columns.reduce((all, column) => all + column[of], 0);
    const isOfSegment =
      sum(0) + AROUND_COLUMNS.before + AROUND_COLUMNS.after === segment.bytes &&
      sum(1) === segment.entries &&
      sum(2) * KEY_BYTES === keys.length;
    return isOfSegment ? new SegmentIndex(data.columns, keys) : undefined;
  }

  /** Returns the columns that may contain entries with one id of each list. */
  find(query: readonly (readonly number[])[]): IndexedColumns {
    const columns = [...this.columns.keys()].filter((column) =>
      query.every((keys) => keys.some((key) => this.mayContain(column, key))),
    );
    return { columns: this.columns, wanted: columns };
  }

  /** Whether a column may contain an id. */
  mayContain(column: number, key: number): boolean {
    const keys = this.#keys[column] ?? Buffer.alloc(0);
    let low = 0;
    let high = keys.length / KEY_BYTES;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = keys.readUIntLE(middle * KEY_BYTES, KEY_BYTES);
      if (found === key) return true;
      if (found < key) low = middle + 1;
      else high = middle;
    }
    return false;
  }
}

function hashOf(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}

/** Writes the index of a segment. If that fails, a search builds the index again. The caller must have the lock. */
export async function writeIndex(store: Store, { path: segment }: Pick<Segment, 'path'>, index: Uint8Array) {
  try {
    await store.create(indexPath(segment), index);
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
}

/** Reads the index of a segment; undefined if it is missing or unreadable. */
export function readIndex(store: Store, { path: segment }: Pick<Segment, 'path'>): Promise<Uint8Array | undefined> {
  return unlessDamaged(store.read(indexPath(segment), MAX_INDEX_BYTES), 'local');
}
