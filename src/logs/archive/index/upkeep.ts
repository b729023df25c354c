import { type ErrorCode, isSvcError } from '../../../base/errors.ts';
import { sideBySide } from '../../../base/side-by-side.ts';
import { type FileStore, removeIfAllowed } from '../../../client/store/store.ts';
import { INDEX, type IndexRef, isCovered, withIndex } from '../records/index-ref.ts';
import {
  type ArchiveRecord,
  dayIn,
  isReview,
  type Link,
  parseRecord,
  recordPath,
  type Segment,
} from '../records/record.ts';
import { IndexFile } from './file.ts';
import { type BuiltColumn, type IndexPart, newestDay, partOf, writeIndex } from './write.ts';

/** Index files are merged every 16 and every 256 records, so that a year has only some dozens of files. */
const SPANS = [256, 16] as const;
const READ_AHEAD = 16;

/** A segment of the next record, with its columns to index. */
export interface StoredSegment {
  readonly segment: Segment;
  readonly columns: readonly BuiltColumn[];
}

/** Indexes the segments of the next record, and merges older index files when due. Returns the added files for the record. */
export async function indexSegments(
  store: FileStore,
  last: Link,
  stored: readonly StoredSegment[],
): Promise<IndexRef[]> {
  const sequence = last.record.sequence + 1;
  const own = stored.filter(({ columns }) => columns.length > 0);
  const parts = own.map(({ segment, columns }) => partOf(segment.sha256, columns));
  const day = newestDay(own.map(({ segment }) => segment.path));
  const added = parts.length === 0 ? [] : [await writeIndex(store, { from: sequence, to: sequence, day }, parts)];
  const merged = await unlessDamaged(mergeBefore(store, last));
  return [...(merged ?? []), ...added];
}

/** Merges index files if the next record is the first with segments after the end of a span. Other records may be in between. */
async function mergeBefore(store: FileStore, last: Link): Promise<IndexRef[]> {
  const next = last.record.sequence + 1;
  let { record } = last;
  while (record.kind === 'gap' || record.kind === 'dropped' || isReview(record)) {
    const path = recordPath(record.sequence - 1);
    record = parseRecord((await store.readText(path)) ?? '', path).record;
  }
  const { sequence } = record;
  const span = SPANS.find((each) => Math.floor(next / each) > Math.floor(sequence / each));
  if (span === undefined) return [];
  const from = Math.floor(sequence / span) * span;
  return merge(store, from, from + span - 1);
}

/** Merges the index files of some records into one file for each month, so that retention can drop it with the month. */
async function merge(store: FileStore, from: number, to: number): Promise<IndexRef[]> {
  let refs: IndexRef[] = [];
  const sequences = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const texts = sideBySide(sequences, READ_AHEAD, (each) => store.readText(recordPath(each)));
  for await (const text of texts) if (text !== undefined) refs = withIndex(refs, indexIn(parseRecord(text, '').record));
  const runs: IndexRef[][] = [];
  for (const ref of refs.filter((each) => isCovered(each, { from, to }))) {
    const run = runs.at(-1);
    if (run?.every(({ path }) => monthIn(path) === monthIn(ref.path))) run.push(ref);
    else runs.push([ref]);
  }
  const merged: IndexRef[] = [];
  for (const run of runs) merged.push(...((await unlessDamaged(mergeRun(store, run))) ?? []));
  return merged;
}

function monthIn(path: string): string {
  return dayIn(path).slice(0, 7);
}

/** Merges index files into one. Damaged and missing files are left out, because segments can be searched without an index. */
async function mergeRun(store: FileStore, refs: readonly IndexRef[]): Promise<IndexRef[]> {
  const parts: IndexPart[] = [];
  const files = sideBySide(refs, READ_AHEAD, (ref) => unlessDamaged(IndexFile.open(store, ref), 'local'));
  for await (const file of files) if (file) parts.push(file);
  if (parts.length < 2) return [];
  const from = refs[0]?.from ?? 0;
  const to = refs.at(-1)?.to ?? 0;
  const day = newestDay(refs.map(({ path }) => path));
  return [await writeIndex(store, { from, to, day }, parts)];
}

function indexIn(record: ArchiveRecord): readonly IndexRef[] | undefined {
  return record.kind === 'segments' ? record.index : undefined;
}

/** Removes index files that merged ones replace, and those that a killed run left. Called after the commit. */
export async function removeMerged(store: FileStore, added: readonly IndexRef[]): Promise<void> {
  const merged = added.filter(({ from, to }) => from < to);
  if (merged.length === 0) return;
  const old: string[] = [];
  for await (const { path } of store.list(INDEX)) {
    const [, from, to] = /\/(\d+)-(\d+)-[^/]+$/.exec(path) ?? [];
    const isOld = merged.some((ref) => isCovered({ from: Number(from), to: Number(to) }, ref) && ref.path !== path);
    if (isOld) old.push(path);
  }
  for await (const _ of sideBySide(old, READ_AHEAD, (path) => removeIfAllowed(store, path)));
}

/**
 * Resolves to the result of work; undefined if a file is damaged or missing, which some buckets report as forbidden. Work
 * that only reads may add the code `local` for unreadable files. Failed writes must stay errors.
 * @throws any other error
 */
export async function unlessDamaged<T>(work: Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isSvcError(error, 'not_found', 'checksum_mismatch', 'forbidden', ...codes)) return undefined;
    throw error;
  }
}
