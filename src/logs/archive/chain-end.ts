import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { linkOrCopy } from '../../base/files/target.ts';
import { isoTime, startOfDay } from '../../cli/output/time.ts';
import { type FileStore, removeIfAllowed } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { TailPosition, TimeRange } from '../entry.ts';
import { appendRecord, readReviewsAfter, type RecordDraft } from './records/chain.ts';
import { INDEX, indexNumber } from './records/index-ref.ts';
import {
  type ArchiveRecord,
  dayOf,
  type Link,
  parseRecord,
  partNumber,
  partPrefix,
  type RecordContent,
  recordPath,
  type ReviewRecord,
  type Segment,
  segmentName,
  sideNumber,
  tenantFolder,
  UNKNOWN_DAY,
} from './records/record.ts';
import type { ClosedSegment } from './segment.ts';
import { pathsNamedBy } from './records/named-files.ts';
import { nextCheckpoint, removeOutdated, storePosition } from './side-files.ts';

// Limits the search for orphaned segments after a long pause, so that not every day of a quiet year is listed.
const MAX_DAYS_BACK_MS = 35 * DAY_MS;
/** More than any run catches up with, so that a run that was killed leaves no segment after it. */
const MAX_DAYS_AHEAD_MS = 400 * DAY_MS;

/** The end of an archive's chain, where a writer appends records. The caller must have the store's lock. */
export class ChainEnd {
  readonly #store: FileStore;
  readonly #tenantId: string;
  readonly #now: () => number;
  #last: Link;
  #hasCleaned = false;

  /** `last` is the newest record. `now` returns the service's time in epoch milliseconds. */
  constructor(store: FileStore, last: Link, tenantId: string, now: () => number) {
    this.#store = store;
    this.#last = last;
    this.#tenantId = tenantId;
    this.#now = now;
  }

  get last(): Link {
    return this.#last;
  }

  get next(): number {
    return this.#last.record.sequence + 1;
  }

  /**
   * Commits a record with the position after it. `contentAfter` returns its content, given the record before it, and is
   * called again when somebody signs a review at the same time, which takes the number but changes nothing else.
   * @throws SvcError `conflict` when another writer was faster; the files of this record are then removed
   */
  async append<C extends RecordContent>(
    contentAfter: (last: Link) => C | Promise<C>,
    behind: TailPosition,
  ): Promise<C> {
    for (;;) {
      const content = await contentAfter(this.#last);
      try {
        await this.#append(content, behind);
        return content;
      } catch (error) {
        const newest = isSvcError(error, 'conflict') ? await readReviewsAfter(this.#store, this.#last) : undefined;
        if (newest === undefined) throw error;
        this.#last = newest;
      }
    }
  }

  /** Commits a review, which leaves everything else as the newest record has it. @throws SvcError `conflict` */
  async appendReview(content: ReviewRecord): Promise<void> {
    await this.#append(content, undefined);
  }

  /**
   * Commits a record. The first commit of a run also removes orphaned segments that a killed run left under the number of
   * the newest or the next record. No earlier ones exist, because every run did the same.
   */
  async #append(content: RecordContent, behind: TailPosition | undefined): Promise<void> {
    const isFirst = !this.#hasCleaned;
    const before = this.#last;
    if (isFirst) await this.#clean(await this.#positionBefore());
    this.#hasCleaned = true;
    // A crash after this line leaves files that no record names, or outdated ones. A later commit removes both.
    const position = behind ? await storePosition(this.#store, this.next, behind) : before.record.position;
    const checkpoint = behind ? await nextCheckpoint(this.#store, before) : before.record.checkpoint;
    try {
      this.#last = await appendRecord(this.#store, before, { ...content, position, checkpoint });
    } catch (error) {
      if (isSvcError(error, 'conflict')) await dropOwn(this.#store, this.next, { ...content, position, checkpoint });
      throw error;
    }
    if (isFirst) await this.#clean(before.record.position);
    await removeOutdated(this.#store, this.#last, before);
  }

  /** Removes segments that have the newest record's number and that the record does not name. */
  async #clean({ settled, read_to: readTo }: ArchiveRecord['position']): Promise<void> {
    const from = Math.max(Date.parse(settled), Date.parse(readTo) - MAX_DAYS_BACK_MS);
    // A false Date header may say that it is the year 9999.
    const range = { from, to: Math.min(this.#now(), Date.parse(readTo) + MAX_DAYS_AHEAD_MS) };
    await removeOrphans(this.#store, this.#tenantId, this.#last.record, range);
  }

  async #positionBefore(): Promise<ArchiveRecord['position']> {
    const { sequence, position } = this.#last.record;
    const path = recordPath(Math.max(0, sequence - 1));
    const text = await this.#store.readText(path);
    if (text === undefined) return position;
    try {
      return parseRecord(text, path).record.position;
    } catch (error) {
      // New entries are archived even after a damaged record, which `svc logs verify` reports.
      if (!isSvcError(error, 'checksum_mismatch')) throw error;
      return position;
    }
  }
}

/**
 * Stores a segment in the archive under its final name. Returns its description for the record. The local file stays
 * until the commit, because another number needs another name.
 */
export async function storeSegment(
  store: FileStore,
  sequence: number,
  { file, tenantId, day, isRaw, entries, first, last, supplementary }: Omit<ClosedSegment, 'columns'>,
): Promise<Segment> {
  const { bytes, sha256 } = file;
  const path = `${tenantFolder(tenantId)}/date=${day}/${segmentName(sequence, sha256, isRaw)}`;
  const spare = { ...file, path: `${file.path}.spare` };
  linkOrCopy(file.path, spare.path);
  // A run killed before its commit may have left the identical file.
  if (!(await store.create(path, spare)) && (await sha256OfAll(store.read(path))) !== sha256)
    throw new SvcError('checksum_mismatch', `${path} in ${store.name} is not the file that its name says`, {
      hint: 'Move it away, then run the command again: no record names it.',
    });
  await fs.promises.rm(spare.path, { force: true });
  const times = { first: isoTime(first) ?? null, last: isoTime(last) ?? null };
  return { path, entries, bytes, sha256, ...times, supplementary };
}

/** Removes the files of a record whose number another writer's record has taken, except files that this one names. */
async function dropOwn(store: FileStore, sequence: number, draft: RecordDraft): Promise<void> {
  const text = await store.readText(recordPath(sequence));
  if (text === undefined) return;
  const named = new Set(pathsNamedBy(parseRecord(text, recordPath(sequence)).record));
  const written = pathsNamedBy(draft).filter((path) => Number.isNaN(sideNumber(path)) || sideNumber(path) === sequence);
  for (const path of written) if (!named.has(path)) await removeIfAllowed(store, path);
}

/** Removes orphaned segments of a committed record. Before the commit, another machine could still commit them. */
async function removeOrphans(store: FileStore, tenantId: string, record: ArchiveRecord, { from, to }: TimeRange) {
  const named = new Set(pathsNamedBy(record));
  // The run after a killed one reads the same entries, so its segments are in the folders of the same tenants.
  const segments = [...named].filter((path) => !Number.isNaN(partNumber(path)));
  const folders = new Set([tenantFolder(tenantId), ...segments.map((path) => path.split('/', 1).join(''))]);
  const days = [UNKNOWN_DAY];
  for (let at = startOfDay(from); at <= to; at += DAY_MS) days.push(dayOf(at));
  for (const folder of folders) {
    for (const day of days) {
      const found = store.list(`${folder}/date=${day}/${partPrefix(record.sequence)}`);
      for await (const { path } of found) if (!named.has(path)) await removeIfAllowed(store, path);
    }
  }
  for await (const { path } of store.list(INDEX))
    if (indexNumber(path) === record.sequence && !named.has(path)) await removeIfAllowed(store, path);
}
