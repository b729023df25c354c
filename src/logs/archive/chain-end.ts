import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { isSvcError, SvcError } from '../../errors.ts';
import type { TimeRange } from '../entry.ts';
import { appendRecord, type Draft } from './chain.ts';
import { fromStored, type StoredPosition } from '../checkpoint.ts';
import {
  type ArchiveRecord,
  dayOf,
  type Link,
  parseRecord,
  partPrefix,
  recordPath,
  type Segment,
  segmentName,
  tenantFolder,
  UNKNOWN_DAY,
} from './record.ts';
import type { ClosedSegment } from './segment.ts';
import type { ArchiveStore } from './store.ts';
import { isoTime } from '../../output/time.ts';

// Where nothing happened for a year, not each of its days is looked through.
const MOST_DAYS_BACK_MS = 35 * 86_400_000;

/** The end of an archive's chain, where its writer adds records. Only under the store's lock. */
export class ChainEnd {
  readonly #store: ArchiveStore;
  readonly #tenantId: string;
  readonly #now: () => number;
  #last: Link;
  #hasCleared = false;

  /** `last` is the newest record; `now` gives the service's time, in epoch milliseconds. */
  constructor(store: ArchiveStore, last: Link, tenantId: string, now: () => number) {
    this.#store = store;
    this.#last = last;
    this.#tenantId = tenantId;
    this.#now = now;
  }

  /** The newest record. */
  get last(): Link {
    return this.#last;
  }

  /** The number of the next record. */
  get next(): number {
    return this.#last.record.sequence + 1;
  }

  /**
   * Commits a record, and with the first one clears away what a killed run has left: that has the number of the newest
   * record, or of the next one. The former goes before there is a next one, so nothing is left of any number before.
   * @throws SvcError `conflict` when another writer was faster: then these segments are taken back
   */
  async append(draft: Draft, segments: readonly Segment[]): Promise<void> {
    const isFirst = !this.#hasCleared;
    const { standing } = this.#last.record;
    if (isFirst) await this.#clear(await this.#standingBefore());
    this.#hasCleared = true;
    try {
      this.#last = await appendRecord(this.#store, this.#last, draft);
    } catch (error) {
      if (isSvcError(error, 'conflict')) await dropSegments(this.#store, this.next, segments);
      throw error;
    }
    if (isFirst) await this.#clear(standing);
  }

  /** Clears away what the newest record does not name of its number; `before` is where the record before it stood. */
  async #clear(before: StoredPosition): Promise<void> {
    const { settled, readTo } = fromStored(before);
    const window = { from: Math.max(settled, readTo - MOST_DAYS_BACK_MS), to: this.#now() };
    await removeOrphans(this.#store, this.#tenantId, this.#last.record, window);
  }

  async #standingBefore(): Promise<StoredPosition> {
    const { sequence, standing } = this.#last.record;
    const path = recordPath(Math.max(0, sequence - 1));
    const text = await this.#store.readText(path);
    return text === undefined ? standing : parseRecord(text, path).record.standing;
  }
}

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
    throw new SvcError('checksum_mismatch', `${path} in ${store.name} is another file than its name says`, {
      hint: 'Move it away, then run the command again: no record names it.',
    });
  await fs.promises.rm(file.path, { force: true });
  return { path, entries, bytes, sha256, first: iso(first), last: iso(last), supplementary };
}

/** Takes back segments for which another writer's record left no room, but none that this record names. */
async function dropSegments(
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
async function removeOrphans(
  store: ArchiveStore,
  tenantId: string,
  record: ArchiveRecord,
  { from, to }: TimeRange,
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
  return at === undefined ? null : isoTime(at);
}
