// Finds the files of killed runs: segments that no record names, whose entries the next run adds to the archive.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { readText, type Store, type StoredFile } from '../../client/store/store.ts';
import type { Log } from '../../schema/log.ts';
import { entryOf, type TailPosition, Tally } from '../entry.ts';
import { fromStored } from '../position.ts';
import { isWithin, readManifest } from './manifest.ts';
import { readSegment } from './read-segment.ts';
import { readLast, readRecord } from './records/chain.ts';
import {
  type ArchiveRecord,
  coversNothing,
  dayOf,
  filesNamedBy,
  isHidden,
  isRawSegment,
  isSegmentPath,
  type Link,
  namedKinds,
  partNumber,
  recordPath,
  type Segment,
  SEGMENTS,
  unlessDamaged,
  writtenFor,
} from './records/record.ts';
import { LATE_FLAG, LEVEL_AT, USUAL_FLAG } from './segment.ts';
import { readPosition } from './side-files.ts';

/** The segments of killed runs, which no record names, and the records that may have their entries. */
export interface Leftovers {
  /** The newest record. */
  readonly last: Link;
  /** The records from the newest one of a run on, newest first. Reviews and recovered entries may follow that record. */
  readonly recent: readonly ArchiveRecord[];
  readonly segments: readonly StoredFile[];
}

/**
 * Finds the segments that no record names. `last` is the newest record.
 * @throws SvcError `checksum_mismatch` if there are files of later records, so that records are missing
 */
export async function findLeftovers(store: Store, last: Link): Promise<Leftovers> {
  const { recent, from } = await recentOf(store, last);
  const oldest = last.record.sequence + 1 - recent.length;
  const named = new Set(recent.flatMap((record) => filesNamedBy(record).segments).map(({ path }) => path));
  const next = last.record.sequence + 1;
  const segments: StoredFile[] = [];
  let beyond: string | undefined;
  for await (const file of namedKinds(store, dayOf(from))) {
    const number = writtenFor(file.path);
    if (isHidden(file.path)) continue;
    if (number > next) beyond ??= file.path;
    const isLeft = isSegmentPath(file.path) && number >= oldest && number <= next && !named.has(file.path);
    if (isLeft && file.irregular === undefined) segments.push(file);
  }
  if (segments.length > 0 || beyond !== undefined) {
    // Another machine may have committed meanwhile.
    const newest = await readLast(store);
    if (newest !== undefined && newest.sha256 !== last.sha256) return findLeftovers(store, newest);
  }
  if (beyond !== undefined) throw recordsMissing(store.name, recordPath(next), beyond);
  return { last, recent, segments };
}

/** Returns the recent records, and the earliest time from which a killed run may have read the log. */
async function recentOf(store: Store, { record }: Link): Promise<{ recent: ArchiveRecord[]; from: number }> {
  const recent = [record];
  let oldest = record;
  let before = await recordBefore(store, oldest);
  while (coversNothing(oldest) && before !== undefined) {
    oldest = before;
    recent.push(oldest);
    before = await recordBefore(store, oldest);
  }
  return { recent, from: Date.parse((before ?? oldest).position.settled) };
}

async function recordBefore(store: Store, { sequence }: ArchiveRecord): Promise<ArchiveRecord | undefined> {
  return sequence === 0 ? undefined : unlessDamaged(readRecord(store, sequence - 1).then(({ record }) => record));
}

/** How often each entry occurs. */
type Counts = Map<string, number>;

/** A segment of a killed run, with its size and hash. */
interface Leftover extends Pick<Segment, 'path' | 'bytes' | 'sha256'> {
  /** The entries of this file that are archived already. */
  readonly archived: Counts;
}

/** The usable segments of killed runs, and the error of an unusable one. */
interface UsableLeftovers {
  readonly usable: readonly Leftover[];
  readonly damage: SvcError | undefined;
}

/** Selects the segments whose bytes have the hash in their names. The others stay where they are. */
export async function usableLeftovers(store: Store, { recent, segments }: Leftovers): Promise<UsableLeftovers> {
  const usable: Leftover[] = [];
  let damage: SvcError | undefined;
  const archivedSince = new Map<number, Counts>();
  for (const { path, bytes } of segments) {
    try {
      const sha256 = await sha256OfAll(store.stream(path));
      if (!path.includes(`-${sha256.slice(0, 12)}.`)) throw notAsNamed(store.name, path);
      // The entries may be archived by the record that took the number of the killed run, or by a later one.
      const number = partNumber(path);
      const since = recent.filter(({ sequence }) => sequence >= number);
      const archived = archivedSince.get(number) ?? (await countsOf(store, since));
      archivedSince.set(number, archived);
      usable.push({ path, bytes, sha256, archived });
    } catch (error) {
      // Another machine may have removed its own file.
      if (!isSvcError(error, 'not_found', 'checksum_mismatch')) throw error;
      if (error.code === 'checksum_mismatch') damage ??= error;
    }
  }
  return { usable, damage };
}

async function countsOf(store: Store, records: readonly ArchiveRecord[]): Promise<Counts> {
  const counts: Counts = new Map();
  for (const segment of records.flatMap((record) => (record.kind === 'segments' ? record.segments : [])))
    for await (const logs of readSegment(store, segment)) for (const log of logs) add(counts, entryOf(log).key);
  return counts;
}

/**
 * Yields the entries that the archive lacks. An entry is yielded as often as one run has it: two runs that continued from the
 * same record read the same entries, so their files are not added up.
 */
export async function* lackingEntries(store: Store, usable: readonly Leftover[]): AsyncGenerator<readonly Log[]> {
  const groups = new Map<string, Leftover[]>();
  for (const file of usable) {
    const group = `${file.path.replace(/[^/]*$/, '')}${String(isRawSegment(file))}`;
    groups.set(group, [...(groups.get(group) ?? []), file]);
  }
  for (const files of groups.values()) {
    const taken: Counts = new Map();
    for (const run of (await areOfOneRun(store, files)) ? [files] : files.map((file) => [file])) {
      const met: Counts = new Map();
      for (const file of run) {
        for await (const logs of readSegment(store, file)) {
          yield logs.filter((log) => {
            const { key } = entryOf(log);
            const times = add(met, key) - (file.archived.get(key) ?? 0);
            const isLacking = times > (taken.get(key) ?? 0);
            if (isLacking) taken.set(key, times);
            return isLacking;
          });
        }
      }
    }
  }
}

/** Whether two files of a day come from one run, which writes its entries in order to one file and late ones to another. */
async function areOfOneRun(store: Store, files: readonly Leftover[]): Promise<boolean> {
  const [one, other] = files;
  if (one === undefined || other === undefined || files.length > 2 || partNumber(one.path) !== partNumber(other.path))
    return false;
  const levels = await Promise.all(files.map(async ({ path }) => (await store.readRange(path, LEVEL_AT, 1))[0]));
  return levels.includes(USUAL_FLAG) && levels.includes(LATE_FLAG);
}

function add(counts: Counts, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/**
 * Removes the files of a record that could not be committed, for example on a full disk, except segments: the next run adds
 * their entries, which the service may have forgotten by then. The caller must have the store's lock. Buckets are skipped,
 * because a writer on another machine may be about to commit a file with the same name.
 */
export async function removeUncommitted(store: Store, sequence: number): Promise<void> {
  if (store.isRemote) return;
  try {
    if ((await readText(store, recordPath(sequence))) !== undefined) return;
    for (const path of await uncommitted(store, sequence)) await store.remove(path);
  } catch (error) {
    // The caller reports the failure of the run, and the next run removes these files.
    if (!isSvcError(error)) throw error;
  }
}

async function uncommitted(store: Store, sequence: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of namedKinds(store))
    if (!path.startsWith(SEGMENTS) && writtenFor(path) === sequence) found.push(path);
  return found;
}

/** The position after a record, and why its file could not be read. */
export interface FoundPosition {
  readonly position: TailPosition;
  readonly damage: SvcError | undefined;
}

/**
 * Reads the position after the newest record. If its file is missing or damaged, computes the position from the segments:
 * new entries must be archived regardless, and no backup has the newest file.
 * @throws SvcError `checksum_mismatch` if segments with entries of it are missing or damaged, too
 */
export async function findPosition(store: Store, last: Link): Promise<FoundPosition> {
  try {
    return { position: await readPosition(store, last), damage: undefined };
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return { position: await positionFromSegments(store, last), damage: positionLost(store.name, error) };
  }
}

async function positionFromSegments(store: Store, { record }: Link): Promise<TailPosition> {
  const position = fromStored({ ...record.position, passed: [] });
  const { settled } = position;
  const passed = new Tally();
  // All entries after `settled` that have been passed on are archived, and so are those without a readable time.
  for (const segment of (await readManifest(store)).segments) {
    if (segment.first !== null && !isWithin(segment, { since: settled })) continue;
    for await (const logs of readSegment(store, segment))
      for (const entry of logs.map(entryOf)) if (entry.at >= settled) passed.add(entry);
  }
  return { ...position, passed: passed.lines()() };
}

/** Returns the error for a file of a later record than the next one: records are missing. */
function recordsMissing(archive: string, record: string, file: string): SvcError {
  return new SvcError(
    'checksum_mismatch',
    `records of ${archive} are missing, from ${record} on: ${file} is of a later one`,
    {
      hint: 'Nothing was written. Restore the records from a backup, and archive to another directory until then, because the service forgets its logs. Where no backup has the records, move the files that verify names away, and keep them: the next run then goes on.',
      next: ['logs', 'verify', archive],
      facts: { path: record },
    },
  );
}

/** Returns the error for a missing or damaged position file of the newest record. */
function positionLost(archive: string, error: SvcError): SvcError {
  return error.with({
    hint: 'What is new was archived, and nothing is lost: the position was found again by the segments. verify names the file until another run has ended.',
    next: ['logs', 'verify', archive],
  });
}

/** Returns the error for a segment of a killed run whose bytes do not have the hash in its name. */
function notAsNamed(archive: string, path: string): SvcError {
  return new SvcError('checksum_mismatch', `${path} in ${archive} is not the file that its name says`, {
    hint: 'No record names it, and it was left where it is. Move it away.',
    next: ['logs', 'verify', archive],
    facts: { path },
  });
}
