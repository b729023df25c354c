import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { SvcError } from '../../../base/errors.ts';
import { sha256Of } from '../../../base/files/draft.ts';
import type { FileStore } from '../../../client/store/store.ts';
import { parsedJson } from '../../../schema/json-value.ts';
import type { IndexRef } from '../records/index-ref.ts';
import { BLOCK_BYTES, blocksOf, LARGEST_CLASS } from './filter.ts';

const count = z.int().check(z.nonnegative());
const time = z.nullable(z.number());

/** A column: compressed bytes, entries, first and last time, size class of its filter, hash of its bytes, hash of its filter. */
const columnSchema = z.tuple([count, count, time, time, count.check(z.maximum(LARGEST_CLASS)), z.string(), z.string()]);

const headSchema = z.looseObject({
  version: z.literal(1),
  segments: z.array(z.looseObject({ sha256: z.string(), columns: z.array(columnSchema) })),
  /** The hashes of the pages of filters, by size class. */
  pages: z.array(z.array(z.string())),
});

type Head = z.infer<typeof headSchema>;

/** An indexed segment: its SHA-256 and its columns in order. */
export type IndexedSegment = Head['segments'][number];

export type ColumnInfo = IndexedSegment['columns'][number];

const sizeClassOf = (column: ColumnInfo): number => column[4];

/** Returns the part of a SHA-256 that an index stores. */
export function shortHash(bytes: Uint8Array): string {
  return shortDigest(createHash('sha256').update(bytes));
}

export function shortDigest(hash: Hash): string {
  return hash.digest('base64url').slice(0, 22);
}

/** The filters of one size class, row by row: the first block of each column, then the second of each, and so on. */
export interface Group {
  readonly sizeClass: number;
  /** The columns in order, each as the number of its segment in the head and its number in the segment. */
  readonly columns: readonly { readonly segment: number; readonly column: number }[];
}

export function groupsOf(segments: readonly IndexedSegment[]): Group[] {
  const groups: { sizeClass: number; columns: { segment: number; column: number }[] }[] = [];
  for (const [segment, { columns }] of segments.entries()) {
    for (const [column, info] of columns.entries()) {
      const sizeClass = sizeClassOf(info);
      while (groups.length <= sizeClass) groups.push({ sizeClass: groups.length, columns: [] });
      groups[sizeClass]?.columns.push({ segment, column });
    }
  }
  return groups;
}

const PAGE_BYTES = 4096;

/** Returns the number of rows in a page, which has one hash. */
export function rowsPerPage({ sizeClass, columns }: Group): number {
  let rows = 1;
  while (rows < 2 ** sizeClass && rows * 2 * columns.length * BLOCK_BYTES <= PAGE_BYTES) rows *= 2;
  return rows;
}

export function headOf(head: Omit<Head, 'version'>): Buffer {
  return gzipSync(JSON.stringify({ version: 1, ...head }));
}

/** The largest accepted head. svc writes no larger one, and it must not fill the memory. */
const MAX_HEAD_BYTES = 256 * 1024 * 1024;

/** A file of an index. Every byte is checked before it is used. */
export class IndexFile {
  readonly segments: readonly IndexedSegment[];
  readonly groups: readonly Group[];
  readonly #store: FileStore;
  readonly #ref: IndexRef;
  readonly #pages: Head['pages'];

  private constructor(store: FileStore, ref: IndexRef, head: Head) {
    this.#store = store;
    this.#ref = ref;
    this.segments = head.segments;
    this.#pages = head.pages;
    this.groups = groupsOf(head.segments);
  }

  /** Reads and checks the head of a file. @throws SvcError `not_found`, `checksum_mismatch` */
  static async open(store: FileStore, ref: IndexRef): Promise<IndexFile> {
    const { path, bytes, head_bytes: length, head_sha256: due } = ref;
    const zipped = await store.readRange(path, bytes - length, length);
    if (sha256Of(zipped) !== due) throw changed(path);
    const text = await promisify(gunzip)(zipped, { maxOutputLength: MAX_HEAD_BYTES }).catch(() => undefined);
    const head = headSchema.safeParse(parsedJson(text?.toString() ?? ''));
    if (!head.success) throw changed(path);
    return new IndexFile(store, ref, head.data);
  }

  /** Reads the blocks of all columns of a group, in the rows from `from` to before `to`. */
  async rows(group: Group, from: number, to: number): Promise<Uint8Array> {
    const perPage = rowsPerPage(group);
    const pageBytes = perPage * group.columns.length * BLOCK_BYTES;
    const first = Math.floor(from / perPage);
    const end = Math.ceil(to / perPage);
    const start = this.#startOf(group) + first * pageBytes;
    const bytes = await this.#store.readRange(this.#ref.path, start, (end - first) * pageBytes);
    for (let page = first; page < end; page += 1) {
      const at = (page - first) * pageBytes;
      const isSame = shortHash(bytes.subarray(at, at + pageBytes)) === this.#pages[group.sizeClass]?.[page];
      if (!isSame) throw changed(this.#ref.path);
    }
    const rowBytes = pageBytes / perPage;
    return bytes.subarray((from - first * perPage) * rowBytes, (to - first * perPage) * rowBytes);
  }

  #startOf({ sizeClass }: Pick<Group, 'sizeClass'>): number {
    const before = this.groups.slice(0, sizeClass);
    return sum(before.map((each) => blocksOf(each.sizeClass) * each.columns.length * BLOCK_BYTES));
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

function changed(path: string): SvcError {
  return new SvcError('checksum_mismatch', `${path} was changed`, { facts: { path } });
}
