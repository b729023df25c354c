import * as z from 'zod';
import { isSvcError, SvcError } from '../../errors.ts';
import { sha256Of } from '../../files/hash.ts';
import {
  type ArchiveRecord,
  damaged,
  HEAD,
  type Link,
  MANIFEST,
  parseRecord,
  recordPath,
  recordText,
  sequenceOf,
} from './record.ts';
import { type ArchiveStore, sideBySide } from './store.ts';

/** A new record without its position in the chain. */
export type RecordDraft = ArchiveRecord extends infer Each
  ? Each extends ArchiveRecord
    ? Pick<Each, Exclude<KnownKeys<Each>, 'version' | 'sequence' | 'previous'>>
    : never
  : never;

type KnownKeys<T> = keyof { [Key in keyof T as string extends Key ? never : Key]: T[Key] };

const headSchema = z.looseObject({
  version: z.literal(1),
  sequence: z.number().int().nonnegative(),
  sha256: z.string(),
});

/** The newest record that an archive's head names. */
export type Head = z.infer<typeof headSchema>;

/**
 * All records from the first on, each checked against the one before, and in the end against the head. None where
 * there is no archive.
 * @throws SvcError `checksum_mismatch` for a record that is damaged, missing or does not chain, `config` for a newer version
 */
export async function* readRecords(store: ArchiveStore): AsyncGenerator<Link> {
  const head = await readHead(store);
  let last: Link | undefined;
  for await (const { path, sequence, text, problem } of recordTexts(store)) {
    if (sequence === undefined) continue;
    if (problem !== undefined) throw damaged(path, problem);
    if (sequence !== next(last) || text === undefined) throw missing(next(last));
    last = checked(parseRecord(text, path), last);
    if (head?.sequence === sequence && head.sha256 !== last.sha256) throw otherHash(path);
    yield last;
  }
  if (head && head.sequence >= next(last)) throw missing(head.sequence);
}

/** A file of the manifest: a record, or something else, without sequence and text. */
export interface RecordText extends TextFound {
  readonly path: string;
  readonly sequence: number | undefined;
}

/** The text of a file; undefined where there is none, or where it cannot be read (`problem`). */
export interface TextFound {
  readonly text: string | undefined;
  readonly problem?: string | undefined;
}

const READ_AHEAD = 16;

/** All files of the manifest in order, read a few ahead, as each one takes time to arrive from a bucket. */
export function recordTexts(store: ArchiveStore): AsyncGenerator<RecordText> {
  return sideBySide(store.list(MANIFEST), READ_AHEAD, async ({ path }) => {
    const sequence = sequenceOf(path);
    return sequence === undefined
      ? { path, sequence, text: undefined }
      : { path, sequence, ...(await findText(store, path)) };
  });
}

/** @throws SvcError as the store */
export async function findText(store: ArchiveStore, path: string): Promise<TextFound> {
  try {
    return { text: await store.readText(path) };
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return { text: undefined, problem: error.message.replace(`${path} is damaged: `, '') };
  }
}

/**
 * The newest record, found by the head and what follows it; undefined where there is no archive.
 * @throws SvcError as `readRecords`
 */
export async function readLast(store: ArchiveStore): Promise<Link | undefined> {
  const head = await readHead(store);
  let last: Link | undefined;
  if (head === undefined) {
    for await (const link of readRecords(store)) last = link;
    return last;
  }
  const path = recordPath(head.sequence);
  const text = await store.readText(path);
  if (text === undefined) throw missing(head.sequence);
  last = parseRecord(text, path);
  if (last.sha256 !== head.sha256) throw otherHash(path);
  for (;;) {
    const after = recordPath(next(last));
    const more = await store.readText(after);
    if (more === undefined) return last;
    last = checked(parseRecord(more, after), last);
  }
}

/** The first record, which says what is archived. @throws SvcError as `readRecords` */
export async function readFirst(store: ArchiveStore): Promise<Link | undefined> {
  const path = recordPath(0);
  const text = await store.readText(path);
  return text === undefined ? undefined : checked(parseRecord(text, path), undefined);
}

/**
 * Commits a record after `last`, then updates the head.
 * @throws SvcError `conflict` when another writer was faster
 */
export async function appendRecord(
  store: ArchiveStore,
  last: Link | undefined,
  draft: RecordDraft,
): Promise<Link> {
  const sequence = next(last);
  const record: ArchiveRecord = { version: 1, sequence, previous: last?.sha256 ?? null, ...draft };
  const [path, text] = [recordPath(sequence), recordText(record)];
  // In a store without conditional writes, another writer may have been last.
  if (last && sha256Of((await store.readText(last.path)) ?? '') !== last.sha256)
    throw otherWriter(store, last.record.sequence);
  if (!(await store.create(path, text))) throw otherWriter(store, sequence);
  const link = { record, path, sha256: sha256Of(text) };
  await store.replace(HEAD, headText({ sequence, sha256: link.sha256 }));
  return link;
}

export function headText({ sequence, sha256 }: Pick<Head, 'sequence' | 'sha256'>): string {
  return `${JSON.stringify({ version: 1, sequence, sha256 })}\n`;
}

/** The head, or undefined where there is none. @throws SvcError `checksum_mismatch` when it cannot be read */
async function readHead(store: ArchiveStore): Promise<Head | undefined> {
  const text = await store.readText(HEAD);
  if (text === undefined) return undefined;
  const head = parseHead(text);
  if (head === undefined) throw damaged(HEAD, 'it names no record');
  return head;
}

/** Reads the text of a head; undefined for what names no record. */
export function parseHead(text: string): Head | undefined {
  try {
    return headSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function checked(link: Link, last: Link | undefined): Link {
  const { sequence, previous, kind } = link.record;
  if (sequence !== next(last)) throw damaged(link.path, `it says that it is record ${sequence}`);
  if ((kind === 'begin') !== (sequence === 0)) throw damaged(link.path, `a ${kind} record cannot be here`);
  if (previous === (last?.sha256 ?? null)) return link;
  throw damaged(link.path, 'it or the record before it was changed: they do not chain');
}

function next(last: Link | undefined): number {
  return last === undefined ? 0 : last.record.sequence + 1;
}

function otherWriter(store: ArchiveStore, sequence: number): SvcError {
  return new SvcError('conflict', `another writer has committed record ${sequence} of ${store.name}`, {
    hint: 'Nothing was lost or duplicated. Let only one machine write to an archive, then run the command again.',
    retryable: true,
  });
}

function missing(sequence: number): SvcError {
  return damaged(recordPath(sequence), 'it is missing');
}

function otherHash(path: string): SvcError {
  return damaged(path, `${HEAD} names another hash of it`);
}
