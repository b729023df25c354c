import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { isSvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { parsedJson } from '../../schema/json-value.ts';
import type { TailPosition } from '../entry.ts';
import { fromStored, positionSchema, toStored } from '../follow/checkpoint.ts';
import { damageOf, type Finding, readRecordsFrom } from './chain.ts';
import { unlessDamaged } from './index/upkeep.ts';
import {
  type ArchiveRecord,
  contentSchema,
  damaged,
  type Link,
  MANIFEST,
  MISSING,
  type RecordContent,
  type SideFile,
  sideNumber,
  sidePath,
} from './record.ts';
import { type ArchiveStore, MAX_TEXT_BYTES } from './store.ts';

// Files beside the records. A record names them with their hash, so they come first, and their name holds its number:
// once it is taken, no other record can name them.

/** A longer list of entries passed on would fill the records, all of which are read for a search. */
const MAX_INLINE = 20;

/** After so many records their content is copied into one file: a search reads this instead of them. */
const CHECKPOINT_EVERY = 256;

const passedSchema = positionSchema.shape.passed;
const contentsSchema = z.array(contentSchema);

/** What the record with this number says of a position. */
export async function storePosition(
  store: ArchiveStore,
  sequence: number,
  position: TailPosition,
): Promise<ArchiveRecord['position']> {
  const stored = toStored(position);
  if (stored.passed.length <= MAX_INLINE) return stored;
  return { ...stored, passed: await storeFile(store, 'position', sequence, stored.passed) };
}

/** The position behind a record. @throws SvcError `checksum_mismatch` */
export async function readPosition(store: ArchiveStore, { record }: Link): Promise<TailPosition> {
  const { passed, ...others } = record.position;
  const found = Array.isArray(passed) ? passed : await readFile(store, passed, passedSchema);
  return fromStored({ ...others, passed: found });
}

/**
 * The checkpoint that the next record names: the one of `last`, or a new one if that is old. What would be longer than
 * `most` bytes could not be read: then the old one stays, and the records behind it are read one by one.
 */
export async function nextCheckpoint(
  store: ArchiveStore,
  last: Link,
  most = MAX_TEXT_BYTES,
): Promise<SideFile | undefined> {
  const { checkpoint, sequence } = last.record;
  const behind = sequence + 1 - (checkpoint === undefined ? 0 : sideNumber(checkpoint.path));
  if (behind < CHECKPOINT_EVERY || (checkpoint && behind % CHECKPOINT_EVERY !== 0)) return checkpoint;
  // Without a record that is damaged or gone there is no new checkpoint; what is new must be archived all the same.
  const records = await unlessDamaged(readAll(store, last));
  if (records === undefined || Buffer.byteLength(textOf(records)) > most) return checkpoint;
  return storeFile(store, 'checkpoint', sequence + 1, records);
}

async function readAll(store: ArchiveStore, last: Link): Promise<RecordContent[]> {
  const records: RecordContent[] = [];
  for await (const content of readContents(store, last)) records.push(content);
  return records;
}

/**
 * The content of all records up to `last`, from its checkpoint as far as that goes.
 * @throws SvcError `checksum_mismatch` for a record that is damaged, missing or does not chain
 */
export async function* readContents(store: ArchiveStore, last: Link): AsyncGenerator<RecordContent> {
  const file = last.record.checkpoint;
  const copied = file ? await copiedContents(store, file) : [];
  yield* copied;
  for await (const { record } of readRecordsFrom(store, copied.length, last)) yield contentOf(record);
}

/** The content that a checkpoint copies; none when it is damaged, since the records have it too. */
async function copiedContents(store: ArchiveStore, file: SideFile): Promise<readonly RecordContent[]> {
  try {
    return await readFile(store, file, contentsSchema);
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return [];
  }
}

/** Removes what the two newest records do not name: whoever has just read the one before may still need its files. */
export async function removeOutdated(store: ArchiveStore, last: Link, before: Link): Promise<void> {
  const named = new Set([last, before].flatMap(({ record }) => filesOf(record).map(({ path }) => path)));
  try {
    for (const kind of ['position', 'checkpoint']) {
      for await (const { path } of store.list(`${MANIFEST}${kind}-`))
        if (sideNumber(path) <= last.record.sequence && !named.has(path)) await store.remove(path);
    }
  } catch (error) {
    // They harm nobody, and the credentials of an archive need not be good for removing files.
    if (!isSvcError(error, 'forbidden')) throw error;
  }
}

/** What is wrong with the files that the two newest records name; `contents` are those of all records, if all are readable. */
export async function* checkSideFiles(
  store: ArchiveStore,
  newest: readonly Link[],
  contents: readonly RecordContent[] | undefined,
): AsyncGenerator<Finding> {
  const files = new Map(newest.flatMap(({ record }) => filesOf(record)).map((file) => [file.path, file]));
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

/** Creates a file for the record of this number. */
async function storeFile(store: ArchiveStore, kind: 'position' | 'checkpoint', sequence: number, value: unknown) {
  const text = textOf(value);
  const sha256 = sha256Of(text);
  const path = sidePath(kind, sequence, sha256);
  // Whoever wrote a file of this name wrote the same.
  await store.replace(path, text);
  return { path, sha256 };
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

async function readFile<T>(store: ArchiveStore, { path, sha256 }: SideFile, schema: z.ZodMiniType<T>): Promise<T> {
  const text = await store.readText(path);
  if (text === undefined) throw damaged(path, MISSING);
  if (sha256Of(text) !== sha256) throw damaged(path, 'it was changed');
  const { data } = schema.safeParse(parsedJson(text));
  if (data === undefined) throw damaged(path, 'its content is not valid');
  return data;
}

/** The files beside the records that a record names. */
export function filesOf({
  position: { passed },
  checkpoint,
}: Pick<ArchiveRecord, 'position' | 'checkpoint'>): SideFile[] {
  return [Array.isArray(passed) ? undefined : passed, checkpoint].filter((file) => file !== undefined);
}

/** What a record adds to the archive, alone. */
export function contentOf(record: ArchiveRecord): RecordContent {
  const { version: _, sequence: _1, previous: _2, position: _3, checkpoint: _4, standing: _5, ...content } = record;
  return content;
}
