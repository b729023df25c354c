import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { SvcError } from '../errors.ts';
import type { Window } from '../tail/source.ts';
import { dayOf, tenantFolder, UNKNOWN_DAY } from './entry-day.ts';
import {
  type ArchiveRecord,
  parseRecord,
  partPrefix,
  recordPath,
  type Segment,
  segmentName,
} from './record.ts';
import type { ClosedSegment } from './segment-file.ts';
import type { ArchiveStore } from './store.ts';

const DAY_MS = 86_400_000;

/** Gives a segment its name in the archive, and tells what its record says of it. */
export async function storeSegment(
  store: ArchiveStore,
  sequence: number,
  { file, tenantId, day, isRaw, entries, first, last, supplementary }: ClosedSegment,
): Promise<Segment> {
  const { bytes, sha256 } = file;
  const path = `${tenantFolder(tenantId)}/date=${day}/${segmentName(sequence, sha256, isRaw)}`;
  // A run that was killed before its record may have left the very same file.
  if (!(await store.create(path, file)) && (await storedHash(store, path)) !== sha256)
    throw new SvcError('altered', `${path} in ${store.name} is another file than its name says`, {
      hint: 'Move it away, then run the command again: no record names it.',
    });
  await fs.promises.rm(file.path, { force: true });
  return { path, entries, bytes, sha256, first: iso(first), last: iso(last), supplementary };
}

/** Takes back segments for which another writer's record left no room, but none that this record names. */
export async function dropSegments(
  store: ArchiveStore,
  sequence: number,
  segments: readonly Segment[],
): Promise<void> {
  const text = await store.readText(recordPath(sequence));
  if (text === undefined) return;
  const named = namedBy(parseRecord(text, recordPath(sequence)).record);
  for (const { path } of segments) if (!named.has(path)) await store.remove(path);
}

/**
 * Removes what a run that was killed has left: segments of this record's number that it does not name. Only once the
 * record is there: until then another machine may be about to commit them.
 */
export async function clearLeftOvers(
  store: ArchiveStore,
  tenantId: string,
  record: ArchiveRecord,
  { from, to }: Window,
): Promise<void> {
  const named = namedBy(record);
  // Its next run meets the same entries, and so the same tenants.
  const folders = new Set([tenantFolder(tenantId), ...[...named].map((path) => path.split('/', 1).join(''))]);
  const days = [UNKNOWN_DAY];
  for (let at = Math.floor(from / DAY_MS) * DAY_MS; at <= to; at += DAY_MS) days.push(dayOf(at));
  for (const folder of folders) {
    for (const day of days) {
      const found = store.list(`${folder}/date=${day}/${partPrefix(record.sequence)}`);
      for await (const { path } of found) if (!named.has(path)) await store.remove(path);
    }
  }
}

function namedBy(record: ArchiveRecord): Set<string> {
  return new Set(record.kind === 'segments' ? record.segments.map(({ path }) => path) : []);
}

async function storedHash(store: ArchiveStore, path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of store.read(path)) hash.update(chunk);
  return hash.digest('hex');
}

function iso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
