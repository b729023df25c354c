import { createHash, type Hash } from 'node:crypto';
import { isSvcError } from '../../base/errors.ts';
import type { FileStore } from '../../client/store/store.ts';
import { type ColumnInfo, type Group, IndexFile, shortDigest } from '../archive/index/file.ts';
import { BLOCK_BYTES, blocksOf, type IdKey } from '../archive/index/filter.ts';
import { ColumnContent } from '../archive/index/write.ts';
import type { Finding } from '../archive/records/chain.ts';
import { INDEX, type IndexRef } from '../archive/records/index-ref.ts';
import type { Segment } from '../archive/records/record.ts';
import { END_BYTES, HEADER_BYTES } from '../archive/segment.ts';

const STEP_BYTES = 4 * 1024 * 1024;

/** Compares an index with the segments. A missing index file is no problem, because its segments are then read whole. */
export class IndexCheck {
  readonly #files: { readonly path: string; readonly file: IndexFile }[] = [];
  readonly #indexed = new Map<string, readonly ColumnInfo[]>();
  readonly #findings: Finding[] = [];

  static async open(store: FileStore, refs: readonly IndexRef[]): Promise<IndexCheck> {
    const check = new IndexCheck();
    for await (const { path, bytes } of store.list(INDEX))
      if (refs.some((ref) => ref.path === path && ref.bytes < bytes)) check.#note(path, 'it has grown');
    for (const ref of refs)
      await check.#noting(ref.path, async () => check.#add(ref, await IndexFile.open(store, ref)));
    return check;
  }

  #add({ path }: IndexRef, file: IndexFile): void {
    this.#files.push({ path, file });
    for (const { sha256, columns } of file.segments) this.#indexed.set(sha256, columns);
  }

  /** Returns the check of a segment's entries against the index; undefined if the segment is not indexed. */
  of({ sha256, bytes }: Segment): IndexedContent | undefined {
    const indexed = this.#indexed.get(sha256);
    return indexed && new IndexedContent(indexed, bytes);
  }

  /** Reads the whole index and returns its problems. */
  async findings(): Promise<readonly Finding[]> {
    for (const { path, file } of this.#files) await this.#noting(path, () => this.#checkContent(path, file));
    return this.#findings;
  }

  async #checkContent(path: string, file: IndexFile): Promise<void> {
    for (const group of file.groups)
      if (!(await isAsHashed(file, group))) this.#note(path, 'its filters are not those of its columns');
  }

  async #noting(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isSvcError(error, 'not_found', 'forbidden')) return;
      if (!isSvcError(error, 'checksum_mismatch')) throw error;
      this.#note(path, 'it was changed');
    }
  }

  #note(path: string, words: string): void {
    this.#findings.push({ problem: 'damaged', path, message: `${words}; it can be removed: more is then read` });
  }
}

async function isAsHashed(file: IndexFile, group: Group): Promise<boolean> {
  const width = group.columns.length * BLOCK_BYTES;
  const blocks = width === 0 ? 0 : blocksOf(group.sizeClass);
  const step = Math.max(1, Math.floor(STEP_BYTES / width));
  const hashes: Hash[] = group.columns.map(() => createHash('sha256'));
  for (let from = 0; from < blocks; from += step) {
    const rows = await file.rows(group, from, Math.min(blocks, from + step));
    for (let at = 0; at < rows.length; at += BLOCK_BYTES)
      hashes[(at % width) / BLOCK_BYTES]?.update(rows.subarray(at, at + BLOCK_BYTES));
  }
  return group.columns.every(({ segment, column }, at) => {
    const hash = hashes[at];
    return hash !== undefined && shortDigest(hash) === file.segments[segment]?.columns[column]?.[6];
  });
}

/** Compares the index's facts about a segment with its entries, which are added in order. */
export class IndexedContent {
  readonly #columns: readonly ColumnInfo[];
  #content = new ColumnContent();
  #next = 0;
  #isSame: boolean;

  constructor(columns: readonly ColumnInfo[], bytes: number) {
    this.#columns = columns;
    this.#isSame = columns.reduce((sum, [length]) => sum + length, HEADER_BYTES + END_BYTES) === bytes;
  }

  /** Adds an id of the entry that `add` adds next. */
  addId(key: IdKey): void {
    this.#content.addId(key);
  }

  add(at: number | undefined, entityId?: string | null, actorId?: string | null): void {
    this.#content.add(at, entityId, actorId);
    const due = this.#columns[this.#next];
    if (this.#content.entries !== due?.[1]) return;
    const found = this.#content.built(new Uint8Array()).info;
    this.#isSame &&= [1, 2, 3, 4, 6].every((member) => found[member] === due[member]);
    this.#next += 1;
    this.#content = new ColumnContent();
  }

  /** Whether the entries match the index. Valid once all entries were added. */
  isSame(): boolean {
    return this.#isSame && this.#content.entries === 0 && this.#next === this.#columns.length;
  }
}
