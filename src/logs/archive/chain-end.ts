import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { linkOrCopy } from '../../base/files/target.ts';
import { isoTime } from '../../cli/output/time.ts';
import { readText, removeIfAllowed, type Store } from '../../client/store/store.ts';
import type { TailPosition } from '../entry.ts';
import { appendRecord, readReviewsAfter, type RecordDraft } from './records/chain.ts';
import {
  type Link,
  parseRecord,
  pathsNamedBy,
  type RecordContent,
  recordPath,
  type ReviewRecord,
  type Segment,
  segmentName,
  sideNumber,
  tenantFolder,
} from './records/record.ts';
import type { ClosedSegment } from './segment.ts';
import { nextCheckpoint, removeOutdated, storePosition } from './side-files.ts';

/** The end of an archive's chain, where a writer appends records. The caller must have the store's lock. */
export class ChainEnd {
  readonly #store: Store;
  readonly #kept: ReadonlySet<string>;
  #last: Link;

  /** `last` is the newest record. Files in `kept` are never removed, because they have the only copy of their entries. */
  constructor(store: Store, last: Link, kept: ReadonlySet<string> = new Set()) {
    this.#store = store;
    this.#last = last;
    this.#kept = kept;
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

  async #append(content: RecordContent, behind: TailPosition | undefined): Promise<void> {
    const before = this.#last;
    // A crash after this line leaves files that no record names, or outdated ones, which a later run finds.
    const position = behind ? await storePosition(this.#store, this.next, behind) : before.record.position;
    const checkpoint = behind ? await nextCheckpoint(this.#store, before) : before.record.checkpoint;
    try {
      this.#last = await appendRecord(this.#store, before, { ...content, position, checkpoint });
    } catch (error) {
      if (isSvcError(error, 'conflict')) await this.#dropOwn({ ...content, position, checkpoint });
      throw error;
    }
    await removeOutdated(this.#store, this.#last, before);
  }

  /** Removes the files of a record whose number another writer's record has taken, except files that this one names. */
  async #dropOwn(draft: RecordDraft): Promise<void> {
    const path = recordPath(this.next);
    const text = await readText(this.#store, path);
    if (text === undefined) return;
    const others = new Set([...pathsNamedBy(parseRecord(text, path).record), ...this.#kept]);
    for (const own of pathsNamedBy(draft)) {
      const isOlder = !Number.isNaN(sideNumber(own)) && sideNumber(own) !== this.next;
      if (!isOlder && !others.has(own)) await removeIfAllowed(this.#store, own);
    }
  }
}

/**
 * Stores a segment in the archive under its final name. Returns its description for the record. The local file stays
 * until the commit, because another number needs another name.
 */
export async function storeSegment(
  store: Store,
  sequence: number,
  { file, tenantId, day, isRaw, entries, first, last, supplementary }: Omit<ClosedSegment, 'index'>,
): Promise<Segment> {
  const { bytes, sha256 } = file;
  const path = `${tenantFolder(tenantId)}/date=${day}/${segmentName(sequence, sha256, isRaw)}`;
  const spare = { ...file, path: `${file.path}.spare` };
  linkOrCopy(file.path, spare.path);
  // A run killed before its commit may have left the identical file.
  if ((await store.create(path, spare)) === 'exists' && (await sha256OfAll(store.stream(path))) !== sha256)
    throw new SvcError('checksum_mismatch', `${path} in ${store.name} is not the file that its name says`, {
      hint: 'Move it away, then run the command again: no record names it.',
    });
  await fs.promises.rm(spare.path, { force: true });
  const times = { first: isoTime(first) ?? null, last: isoTime(last) ?? null };
  return { path, entries, bytes, sha256, ...times, supplementary };
}
