// Reads, checks and extends the chain of an archive's records: each has the hash of the one before.

import * as z from 'zod/mini';
import { isSvcError, refuseNewer, SvcError } from '../../../base/errors.ts';
import { sha256Of } from '../../../base/files/draft.ts';
import { sideBySide } from '../../../base/side-by-side.ts';
import { readText, type Store } from '../../../client/store/store.ts';
import { objectOrUndefined, parsedJson } from '../../../schema/json-value.ts';
import {
  type ArchiveRecord,
  damaged,
  HEAD,
  isHidden,
  isReview,
  type Link,
  MANIFEST,
  MISSING,
  VERSION,
  parseRecord,
  type RecordContent,
  recordPath,
  recordText,
  sequenceOf,
  sideNumber,
} from './record.ts';

/** A new record without its place in the chain. */
export type RecordDraft = RecordContent & Pick<ArchiveRecord, 'position' | 'checkpoint'>;

const headSchema = z.looseObject({
  version: z.literal(1),
  sequence: z.int().check(z.nonnegative()),
  sha256: z.string(),
});

/** The newest record that an archive's head names. */
type Head = z.infer<typeof headSchema>;

/**
 * Yields all records, with the checks of `checkChain`. Yields nothing where there is no archive.
 * @throws SvcError `checksum_mismatch` for a record that is damaged, missing or does not chain, `config` for a newer version
 */
export async function* readRecords(store: Store): AsyncGenerator<Link> {
  for await (const item of checkChain(store)) {
    if ('record' in item) yield item;
    else if (!isHarmless(item)) throw damaged(item.path, item.message);
  }
}

// The next commit rewrites a missing or unusual head.
function isHarmless({ problem, path }: Finding): boolean {
  return problem === 'unlisted' || (path === HEAD && problem !== 'damaged');
}

/** The number of a record and the hash of its bytes, which are known even if the record is unreadable. */
export interface ChainState {
  readonly sequence: number;
  readonly sha256: string;
}

/**
 * Checks all records without stopping at the first problem. Yields every readable record and all problems in order.
 * Returns the newest record, or undefined where there is none.
 * @throws SvcError `config` for a newer version, `local`
 */
export async function* checkChain(store: Store): AsyncGenerator<Link | Finding, ChainState | undefined> {
  // The head is read before the records, so that a concurrent commit cannot make it newer than them.
  const head = await findText(store, HEAD);
  const named = parseHead(head.text ?? '');
  let namedHash: string | undefined;
  let last: ChainState | undefined;
  for await (const { path, sequence, text, problem } of recordTexts(store)) {
    if (sequence === undefined) {
      if (path !== HEAD && !isHidden(path) && Number.isNaN(sideNumber(path)))
        yield found('unlisted', path, 'it is not a record');
      continue;
    }
    if (text === undefined && problem === undefined) continue;
    const due = last === undefined ? 0 : last.sequence + 1;
    if (sequence > due) yield missing(due, sequence - 1);
    if (problem !== undefined) yield found('damaged', path, problem);
    else yield* checkRecord(text ?? '', path, sequence, last);
    last = { sequence, sha256: sha256Of(text ?? '') };
    if (sequence === named?.sequence) namedHash = last.sha256;
  }
  // The writer of the first record may have created the head since it was read.
  const isNew =
    head.text === undefined && head.problem === undefined && (await findText(store, HEAD)).text !== undefined;
  if (!isNew) yield* checkHead(head, namedHash, last);
  return last;
}

function* checkRecord(text: string, path: string, sequence: number, last: ChainState | undefined) {
  let link: Link;
  try {
    link = parseRecord(text, path);
  } catch (error) {
    yield found('damaged', path, damageOf(error, path));
    return;
  }
  // Other JSON readers could use the second of two members with the same name, or ignore everything after the first line.
  if (`${JSON.stringify(parsedJson(text))}\n` !== text)
    yield found('changed', path, 'it is not written as svc writes records');
  yield* contradictions(link, sequence, last);
  yield link;
}

/** Yields what in a record contradicts its position in the chain. `last` is the newest known record before it. */
function* contradictions({ record, path }: Link, due: number, last: ChainState | undefined): Generator<Finding> {
  const { sequence, previous, kind } = record;
  if (sequence !== due) yield found('unfit', path, `it says that it is record ${sequence}`);
  if ((kind === 'begin') !== (due === 0)) yield found('unfit', path, `a ${kind} record cannot be here`);
  // The hash of a missing record is unknown, so any `previous` after it is accepted.
  const before = last?.sequence === due - 1 ? last.sha256 : previous;
  if (previous !== (due === 0 ? null : before))
    yield found('changed', path, 'it does not chain: it was changed, or the record before it');
}

// The head may lag behind after a crash between a commit and the update of the head. It is never ahead.
function* checkHead({ text, problem }: TextFound, namedHash: string | undefined, last: ChainState | undefined) {
  const head = parseHead(text ?? '');
  const due = last === undefined ? 0 : last.sequence + 1;
  if (problem !== undefined) yield found('damaged', HEAD, problem);
  else if (text === undefined) {
    if (due > 1) yield found('missing', HEAD, 'it is missing; the next commit to the archive recreates it');
  } else if (head === undefined) yield found('damaged', HEAD, NO_RECORD);
  else if (head.sequence >= due) yield missing(due, head.sequence);
  else if (namedHash !== head.sha256) {
    const words = `it was changed, or ${HEAD}, which names another hash of it`;
    yield found('changed', recordPath(head.sequence), words);
  } else if (text !== headText(head)) yield found('changed', HEAD, 'it was changed');
}

const NO_RECORD = 'it names no record';

function missing(from: number, to = from): Finding {
  const others = to - from === 1 ? recordPath(to) : `all ${to - from} records up to ${recordPath(to)}`;
  return found('missing', recordPath(from), `it is missing${from === to ? '' : `, and ${others}`}`);
}

function found(problem: Problem, path: string, message: string): Finding {
  return { problem, path, message };
}

/** A file of the manifest. One that is not a record has no sequence and no text. */
interface RecordText extends TextFound {
  readonly path: string;
  readonly sequence: number | undefined;
}

/** The text of a file; undefined if there is no file, or if it cannot be read (`problem` says why). */
interface TextFound {
  readonly text: string | undefined;
  readonly problem?: string | undefined;
}

const READ_AHEAD = 16;

/** Reads all files of the manifest in order. A few are read ahead, because each takes time to arrive from a bucket. */
function recordTexts(store: Store): AsyncGenerator<RecordText> {
  return sideBySide(manifestPaths(store), READ_AHEAD, async (path) => {
    const sequence = sequenceOf(path);
    return sequence === undefined
      ? { path, sequence, text: undefined }
      : { path, sequence, ...(await findText(store, path)) };
  });
}

/** Yields the paths in the manifest. Records that the list lacks are looked up: it may come from a cache. */
async function* manifestPaths(store: Store): AsyncGenerator<string> {
  let due = 0;
  for await (const { path } of store.list(MANIFEST)) {
    const sequence = sequenceOf(path) ?? due;
    if (sequence > due) due = yield* recordsFrom(store, due, sequence);
    yield path;
    if (path === recordPath(sequence)) due = sequence + 1;
  }
  yield* recordsFrom(store, due, Infinity);
}

/** Yields the paths of records until one is not there, and returns the number of that one. */
async function* recordsFrom(store: Store, first: number, end: number): AsyncGenerator<string, number> {
  let number = first;
  for (; number < end && (await store.find(recordPath(number))) !== undefined; number += 1) yield recordPath(number);
  return number;
}

async function findText(store: Store, path: string): Promise<TextFound> {
  try {
    return { text: await readText(store, path) };
  } catch (error) {
    return { text: undefined, problem: damageOf(error, path) };
  }
}

/** Returns the problem of a damaged file, without its path. @throws any error that is not about damage */
export function damageOf(error: unknown, path: string): string {
  if (!isSvcError(error, 'checksum_mismatch')) throw error;
  return error.message.replace(`${path} is damaged: `, '');
}

/**
 * Finds the newest record: reads the one that the head names, then any after it. Undefined where there is no archive.
 * @throws SvcError as `readRecords`
 */
export async function readLast(store: Store): Promise<Link | undefined> {
  const head = await readHead(store);
  let last: Link | undefined;
  if (head === undefined) {
    for await (const link of readRecords(store)) last = link;
    return last;
  }
  const named = recordPath(head.sequence);
  const text = await readText(store, named);
  if (text === undefined) throw withoutHead(damaged(named, MISSING), store);
  last = parseRecord(text, named);
  if (last.sha256 !== head.sha256) throw damaged(last.path, `${HEAD} names another hash of it`);
  for await (const link of recordsAfter(store, last)) last = link;
  return last;
}

/** Yields the records after `last`, checked, until none is there. @throws SvcError as `readRecords` */
async function* recordsAfter(store: Store, last: Link | undefined): AsyncGenerator<Link, void> {
  for (let before = last; ;) {
    const path = recordPath(next(before));
    const text = await readText(store, path);
    if (text === undefined) return;
    before = checked(parseRecord(text, path), before);
    yield before;
  }
}

/** Yields the records from number `first` up to `last`, checked. @throws SvcError as `readRecords` */
export async function* readRecordsFrom(store: Store, first: number, last: Link): AsyncGenerator<Link> {
  const numbers = Array.from({ length: last.record.sequence + 1 - first }, (_, index) => first + index);
  let before: Link | undefined;
  for await (const link of sideBySide(numbers, READ_AHEAD, (number) => readRecord(store, number))) {
    before = checked(link, before, before === undefined ? first : next(before));
    yield before;
  }
  if (before?.sha256 !== last.sha256) throw damaged(last.path, 'it was changed meanwhile');
}

/** Returns the newest record if nothing but reviews follows `last`; undefined otherwise. @throws SvcError as `readRecords` */
export async function readReviewsAfter(store: Store, last: Link): Promise<Link | undefined> {
  let newest: Link | undefined;
  for await (const link of recordsAfter(store, last)) {
    if (!isReview(link.record)) return undefined;
    newest = link;
  }
  return newest;
}

/** Reads a record without the checks of the chain. @throws SvcError `checksum_mismatch` */
export async function readRecord(store: Store, sequence: number): Promise<Link> {
  const path = recordPath(sequence);
  const text = await readText(store, path);
  if (text === undefined) throw damaged(path, MISSING);
  return parseRecord(text, path);
}

/** Reads the first record, which names the service and the tenant. @throws SvcError as `readRecords` */
export async function readFirst(store: Store): Promise<Link | undefined> {
  for await (const link of recordsAfter(store, undefined)) return link;
  return undefined;
}

/**
 * Commits a record after `last`, then updates the head.
 * @throws SvcError `conflict` when another writer was faster
 */
export async function appendRecord(store: Store, last: Link | undefined, draft: RecordDraft): Promise<Link> {
  const sequence = next(last);
  const record: ArchiveRecord = { version: VERSION, sequence, previous: last?.sha256 ?? null, ...draft };
  const path = recordPath(sequence);
  const text = recordText(record);
  // A store without conditional writes lets another writer replace the last record.
  if (last && sha256Of((await readText(store, last.path)) ?? '') !== last.sha256)
    throw otherWriter(store, last.record.sequence);
  // A run that failed on a full disk may have created the first record without the head.
  if (last?.record.sequence === 0) await store.put(HEAD, headText({ sequence: 0, sha256: last.sha256 }));
  if ((await store.create(path, text)) === 'exists') throw otherWriter(store, sequence);
  const link = { record, path, sha256: sha256Of(text) };
  await store.put(HEAD, headText({ sequence, sha256: link.sha256 }));
  return link;
}

/** Adds how to go on where the head is damaged, or names a record that is missing, as in a copy made while a run committed. */
function withoutHead(error: SvcError, { name }: Store): SvcError {
  return error.with({
    hint: `Nothing was written. Restore the file from a backup. If none has it, move ${HEAD} out of the archive: the next run of 'svc logs archive' then goes on after the newest record.`,
    next: ['logs', 'verify', name],
  });
}

/**
 * Returns the path of the record that was changed, where the record at `path` names another hash of the record before it
 * than that one has. The record after it, or the head, names the hash of the record at `path`: if that hash is right, the
 * record before it was changed.
 */
export async function changedRecord(store: Store, path: string): Promise<string> {
  const sequence = sequenceOf(path) ?? 0;
  const [text, after, head] = await Promise.all(
    [path, recordPath(sequence + 1), HEAD].map(async (one) => (await findText(store, one)).text),
  );
  if (text === undefined || sequence === 0) return path;
  const named = parseHead(head ?? '');
  const sha256 = named?.sequence === sequence ? named.sha256 : objectOrUndefined(parsedJson(after ?? ''))?.['previous'];
  return sha256 === sha256Of(text) ? recordPath(sequence - 1) : path;
}

function headText({ sequence, sha256 }: Pick<Head, 'sequence' | 'sha256'>): string {
  return `${JSON.stringify({ version: 1, sequence, sha256 })}\n`;
}

/** Reads the head; undefined where there is none. @throws SvcError `checksum_mismatch` when it cannot be read */
async function readHead(store: Store): Promise<Head | undefined> {
  const text = await readText(store, HEAD);
  if (text === undefined) return undefined;
  const head = parseHead(text);
  if (head === undefined) throw withoutHead(damaged(HEAD, NO_RECORD), store);
  return head;
}

/** Parses the text of a head; undefined if it names no record. @throws SvcError `config` for a newer version */
function parseHead(text: string): Head | undefined {
  const value = parsedJson(text);
  refuseNewer(value, 1, HEAD);
  return headSchema.safeParse(value).data;
}

function checked(link: Link, last: Link | undefined, due = next(last)): Link {
  const before = last && { sequence: last.record.sequence, sha256: last.sha256 };
  for (const { path, message } of contradictions(link, due, before)) throw damaged(path, message);
  return link;
}

function next(last: Link | undefined): number {
  return last === undefined ? 0 : last.record.sequence + 1;
}

/** The error when another machine has already committed a record with this number. */
export function otherWriter(store: Store, sequence: number): SvcError {
  return new SvcError('conflict', `another writer has committed record ${sequence} of ${store.name}`, {
    hint: 'Nothing was lost or duplicated. Run the command again: it adds what the other writer did not.',
    retryable: true,
  });
}

export type Problem =
  /** The file has other bytes than were written. */
  | 'changed'
  /** The file is shorter (`cut`) or longer (`grown`) than it was written. */
  | 'cut'
  | 'grown'
  /** The file was written and is gone. */
  | 'missing'
  /** No record lists the file. */
  | 'unlisted'
  | 'damaged'
  /** The file contradicts its record or its position in the chain. */
  | 'unfit'
  /** Retention dropped months that it was not expected to drop. */
  | 'dropped'
  /** No record in the chain has the expected hash. */
  | 'rewritten';

export interface Finding {
  readonly problem: Problem;
  readonly path: string;
  readonly message: string;
  /** Why no record lists a file: a run was killed or is at work, or the records are missing. Any other file only lies there. */
  readonly cause?: 'run' | 'missing records' | undefined;
}
