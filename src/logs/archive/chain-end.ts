import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { TailPosition, TimeRange } from '../entry.ts';
import { appendRecord, type RecordDraft } from './chain.ts';
import { INDEX, indexNumber } from './index/ref.ts';
import {
  type ArchiveRecord,
  dayOf,
  type Link,
  parseRecord,
  partNumber,
  partPrefix,
  type RecordContent,
  recordPath,
  type Segment,
  segmentName,
  sideNumber,
  tenantFolder,
  UNKNOWN_DAY,
} from './record.ts';
import type { ClosedSegment } from './segment.ts';
import { filesOf, nextCheckpoint, removeOutdated, storePosition } from './side-files.ts';
import type { ArchiveStore } from './store.ts';

const DAY_MS = 86_400_000;
// After a quiet year, not each of its days is searched.
const MAX_DAYS_BACK_MS = 35 * DAY_MS;

/** The end of an archive's chain, where its writer adds records. Only under the store's lock. */
export class ChainEnd {
  readonly #store: ArchiveStore;
  readonly #tenantId: string;
  readonly #now: () => number;
  #last: Link;
  #hasCleaned = false;

  /** `last` is the newest record; `now` gives the service's time, in epoch milliseconds. */
  constructor(store: ArchiveStore, last: Link, tenantId: string, now: () => number) {
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
   * Commits a record with the position behind it, and with the first one removes what a killed run left: segments with
   * the number of the newest record, or of the next one. The former are removed before there is a next one, so none of
   * earlier numbers are left.
   * @throws SvcError `conflict` when another writer was faster: then the files of this record are removed
   */
  async append(content: RecordContent, behind: TailPosition): Promise<void> {
    const isFirst = !this.#hasCleaned;
    const before = this.#last;
    if (isFirst) await this.#clean(await this.#positionBefore());
    this.#hasCleaned = true;
    // A crash from here on leaves files that no record names, and later those of older records: a commit removes both.
    const position = await storePosition(this.#store, this.next, behind);
    const checkpoint = await nextCheckpoint(this.#store, before);
    try {
      this.#last = await appendRecord(this.#store, before, { ...content, position, checkpoint });
    } catch (error) {
      if (isSvcError(error, 'conflict')) await dropOwn(this.#store, this.next, { ...content, position, checkpoint });
      throw error;
    }
    if (isFirst) await this.#clean(before.record.position);
    await removeOutdated(this.#store, this.#last, before);
  }

  /** Removes segments with the newest record's number that it does not name; `before` is the position before it. */
  async #clean({ settled, read_to: readTo }: ArchiveRecord['position']): Promise<void> {
    const from = Math.max(Date.parse(settled), Date.parse(readTo) - MAX_DAYS_BACK_MS);
    const range = { from, to: this.#now() };
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
      // What is new is archived also after a damaged record; `verify` finds it.
      if (!isSvcError(error, 'checksum_mismatch')) throw error;
      return position;
    }
  }
}

/** Gives a segment its name in the archive, and returns what its record says of it. */
export async function storeSegment(
  store: ArchiveStore,
  sequence: number,
  { file, tenantId, day, isRaw, entries, first, last, supplementary }: Omit<ClosedSegment, 'columns'>,
): Promise<Segment> {
  const { bytes, sha256 } = file;
  const path = `${tenantFolder(tenantId)}/date=${day}/${segmentName(sequence, sha256, isRaw)}`;
  // A run that was killed before its record may have left the very same file.
  if (!(await store.create(path, file)) && (await sha256OfAll(store.read(path))) !== sha256)
    throw new SvcError('checksum_mismatch', `${path} in ${store.name} is not the file that its name says`, {
      hint: 'Move it away, then run the command again: no record names it.',
    });
  await fs.promises.rm(file.path, { force: true });
  const times = { first: isoTime(first) ?? null, last: isoTime(last) ?? null };
  return { path, entries, bytes, sha256, ...times, supplementary };
}

/** Removes the files of a record after another writer's record took its number, but none that this record names. */
async function dropOwn(store: ArchiveStore, sequence: number, draft: RecordDraft): Promise<void> {
  const text = await store.readText(recordPath(sequence));
  if (text === undefined) return;
  const named = namedBy(parseRecord(text, recordPath(sequence)).record);
  const written = [...namedBy(draft)].filter((path) => Number.isNaN(sideNumber(path)) || sideNumber(path) === sequence);
  for (const path of written) if (!named.has(path)) await store.remove(path);
}

/** Removes segments that a killed run left. Before the record is there, another machine may still commit them. */
async function removeOrphans(store: ArchiveStore, tenantId: string, record: ArchiveRecord, { from, to }: TimeRange) {
  const named = namedBy(record);
  // Its next run meets the same entries, and so the same tenants.
  const segments = [...named].filter((path) => !Number.isNaN(partNumber(path)));
  const folders = new Set([tenantFolder(tenantId), ...segments.map((path) => path.split('/', 1).join(''))]);
  const days = [UNKNOWN_DAY];
  for (let at = Math.floor(from / DAY_MS) * DAY_MS; at <= to; at += DAY_MS) days.push(dayOf(at));
  for (const folder of folders) {
    for (const day of days) {
      const found = store.list(`${folder}/date=${day}/${partPrefix(record.sequence)}`);
      for await (const { path } of found) if (!named.has(path)) await store.remove(path);
    }
  }
  for await (const { path } of store.list(INDEX))
    if (indexNumber(path) === record.sequence && !named.has(path)) await store.remove(path);
}

/** The files that a record names. */
function namedBy(record: RecordDraft): Set<string> {
  const files = record.kind === 'segments' ? [...record.segments, ...(record.index ?? [])] : [];
  return new Set([...files, ...filesOf(record)].map(({ path }) => path));
}
