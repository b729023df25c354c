// Files beside the records: positions and checkpoints. Each is written before the record that names it with its hash, and its
// name contains the record's number, so that no other record can name it.

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { isSvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { removeIfAllowed } from '../../client/store/remove.ts';
import { MAX_TEXT_BYTES, type Store, readText } from '../../client/store/store.ts';
import { type Finding, damageOf, readRecordsFrom } from './records/chain.ts';
import {
  type ArchiveRecord,
  type Link,
  MANIFEST,
  MISSING,
  type RecordContent,
  type SideFile,
  contentSchema,
  damaged,
  filesNamedBy,
  sideNumber,
  sidePath,
  unlessDamaged,
} from './records/record.ts';
import type { TailPosition } from '../entry.ts';
import { fromStored, positionSchema, toStored } from '../position.ts';
import { parsedJson } from '../../schema/json-value.ts';

/** The largest number of entries in a record itself. Longer lists would slow down searches, which read all records. */
const MAX_INLINE = 20;

/** The number of records after which their content is copied into one file, which a search reads instead of them. */
const CHECKPOINT_EVERY = 256;

const passedSchema = positionSchema.shape.passed;
const contentsSchema = z.array(contentSchema);

/** Returns a position as the record with this number stores it; a long list goes into a separate file. */
export async function storePosition(
  store: Store,
  sequence: number,
  position: TailPosition,
): Promise<ArchiveRecord['position']> {
  const stored = toStored(position);
  if (stored.passed.length <= MAX_INLINE) return stored;
  return { ...stored, passed: await storeFile(store, 'position', sequence, stored.passed) };
}

/** Reads the position after a record. @throws SvcError `checksum_mismatch` */
export async function readPosition(store: Store, { record }: Link): Promise<TailPosition> {
  const { passed, ...others } = record.position;
  const found = Array.isArray(passed) ? passed : await readFile(store, passed, passedSchema);
  return fromStored({ ...others, passed: found });
}

/**
 * Returns the checkpoint for the next record: the one of `last`, or a new one if that is old. A checkpoint of more than
 * `most` bytes could not be read, so the old one stays and the records after it are read one by one.
 */
export async function nextCheckpoint(store: Store, last: Link, most = MAX_TEXT_BYTES): Promise<SideFile | undefined> {
  const { checkpoint, sequence } = last.record;
  const behind = sequence + 1 - (checkpoint === undefined ? 0 : sideNumber(checkpoint.path));
  if (behind < CHECKPOINT_EVERY || (checkpoint && behind % CHECKPOINT_EVERY !== 0)) return checkpoint;
  // A damaged or missing record prevents a new checkpoint, but new entries must be archived regardless.
  const records = await unlessDamaged(readAll(store, last));
  if (records === undefined || Buffer.byteLength(textOf(records)) > most) return checkpoint;
  return storeFile(store, 'checkpoint', sequence + 1, records);
}

async function readAll(store: Store, last: Link): Promise<RecordContent[]> {
  const records: RecordContent[] = [];
  for await (const content of readContents(store, last)) records.push(content);
  return records;
}

/**
 * Yields the content of all records up to `last`, from its checkpoint as far as possible.
 * @throws SvcError `checksum_mismatch` for a record that is damaged, missing or does not chain
 */
export async function* readContents(store: Store, last: Link): AsyncGenerator<RecordContent> {
  const file = last.record.checkpoint;
  const copied = file ? await copiedContents(store, file) : [];
  yield* copied;
  for await (const { record } of readRecordsFrom(store, copied.length, last)) yield contentOf(record);
}

/** Reads the content in a checkpoint. A damaged one counts as empty, because the records have the same content. */
async function copiedContents(store: Store, file: SideFile): Promise<readonly RecordContent[]> {
  try {
    return await readFile(store, file, contentsSchema);
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return [];
  }
}

/** Removes files that neither of the two newest records names. A reader of the previous record may still need its files. */
export async function removeOutdated(store: Store, last: Link, before: Link): Promise<void> {
  const named = new Set([last, before].flatMap(({ record }) => filesNamedBy(record).side.map(({ path }) => path)));
  for (const kind of ['position', 'checkpoint']) {
    for await (const { path } of store.list(`${MANIFEST}${kind}-`))
      if (sideNumber(path) <= last.record.sequence && !named.has(path)) await removeIfAllowed(store, path);
  }
}

/** Yields problems of the files that the two newest records name. `contents` is set only if all records are readable. */
export async function* checkSideFiles(
  store: Store,
  newest: readonly Link[],
  contents: readonly RecordContent[] | undefined,
): AsyncGenerator<Finding> {
  const files = new Map(newest.flatMap(({ record }) => filesNamedBy(record).side).map((file) => [file.path, file]));
  for (const file of files.values()) {
    try {
      const isPosition = file.path.startsWith(`${MANIFEST}position-`);
      const found = await readFile<unknown[]>(store, file, isPosition ? passedSchema : contentsSchema);
      if (!isPosition && contents && !isDeepStrictEqual(found, contents.slice(0, found.length)))
        throw damaged(file.path, 'it contradicts the records');
    } catch (error) {
      const message = damageOf(error, file.path);
      yield { problem: message === MISSING ? 'missing' : 'damaged', path: file.path, message };
    }
  }
}

/** Writes a file for the record with this number. */
async function storeFile(store: Store, kind: 'position' | 'checkpoint', sequence: number, value: unknown) {
  const text = textOf(value);
  const sha256 = sha256Of(text);
  const path = sidePath(kind, sequence, sha256);
  // A file with this name can only have the same content.
  await store.put(path, text);
  return { path, sha256 };
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

async function readFile<T>(store: Store, { path, sha256 }: SideFile, schema: z.ZodMiniType<T>): Promise<T> {
  const text = await readText(store, path);
  if (text === undefined) throw damaged(path, MISSING);
  if (sha256Of(text) !== sha256) throw damaged(path, 'it was changed');
  const { data } = schema.safeParse(parsedJson(text));
  if (data === undefined) throw damaged(path, 'its content is not valid');
  return data;
}

/** Returns the content of a record, without its place in the chain. */
export function contentOf(record: ArchiveRecord): RecordContent {
  const { version: _, sequence: _1, previous: _2, position: _3, checkpoint: _4, ...content } = record;
  return content;
}
