// Adds entries, gaps and dropped months to an archive, one record for each commit.

import fs from 'node:fs';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { linkOrCopy } from '../../base/files/target.ts';
import { isoTime } from '../../cli/output/time.ts';
import { removeAll, removeIfAllowed } from '../../client/store/remove.ts';
import { type Store, readText } from '../../client/store/store.ts';
import {
  type FoundPosition,
  type Leftovers,
  findLeftovers,
  findPosition,
  lackingEntries,
  removeUncommitted,
  usableLeftovers,
} from './leftovers.ts';
import { type RecordDraft, appendRecord, readReviewsAfter } from './records/chain.ts';
import { type Stamp, isoRange, stampOf } from './records/coverage.ts';
import {
  type Link,
  type RecordContent,
  type ReviewRecord,
  type Segment,
  coversNothing,
  parseRecord,
  pathsNamedBy,
  recordPath,
  segmentName,
  sideNumber,
  tenantFolder,
} from './records/record.ts';
import { type KeepLimit, type OldSegments, findOld } from './retention.ts';
import { indexPath, writeIndex } from './segment-index.ts';
import { type ClosedSegment, LEFTOVER, Pending, type PendingLimits } from './segment.ts';
import { nextCheckpoint, removeOutdated, storePosition } from './side-files.ts';
import { type TailPosition, Tally, type TallyLine, type TimeRange, entryOf, settledBefore } from '../entry.ts';
import type { Log } from '../../schema/log.ts';

interface WriterOptions {
  readonly tenantId: string;
  readonly limits?: PendingLimits | undefined;
  readonly now: () => number;
  /** Returns the milliseconds by which this machine's clock is ahead of the service's. */
  readonly machineAhead?: (() => number) | undefined;
  /** What earlier writers of the run have written, to which this one adds. */
  readonly written?: Written | undefined;
}

export interface Written {
  entries: number;
  /** Entries that arrived late, in supplementary segments. */
  late: number;
  /** Entries of other tenants that share them, in separate folders. */
  shared: number;
  /** Entries without a readable time, under `date=unknown`. */
  timeless: number;
  /** Entries that some JSON readers reject, in raw segments. */
  raw: number;
  cardNumbers: number;
  segments: number;
  gaps: TimeRange[];
}

const LIMITS: PendingLimits = { entries: 100_000, characters: 64 * 1024 * 1024 };

const COUNTS = ['entries', 'late', 'shared', 'timeless', 'raw', 'cardNumbers'] as const;
/** Returns the counts at the beginning of a run. */
function nothingWritten(): Written {
  return { entries: 0, late: 0, shared: 0, timeless: 0, raw: 0, cardNumbers: 0, segments: 0, gaps: [] };
}

/** Adds entries to an archive, commit by commit. The caller must have the store's lock. */
export class ArchiveWriter {
  readonly written: Written;
  readonly #store: Store;
  readonly #options: WriterOptions;
  readonly #end: ChainEnd;
  /** The segments that killed runs left, until their entries are committed. */
  readonly #leftovers: Set<string>;
  #position: TailPosition;
  /** Where the time range of the next commit begins. */
  #readFrom: number;
  #pending: Pending;
  #gapTo = 0;
  #isNew: boolean;
  #isWhole = true;
  #damage: SvcError | undefined;

  /**
   * Continues after the newest record. First commits the entries that killed runs left: the service may have deleted them.
   * @throws SvcError `checksum_mismatch` if its position cannot be found, or if records after it are missing
   */
  static async open(store: Store, last: Link, options: WriterOptions): Promise<ArchiveWriter> {
    const leftovers = await findLeftovers(store, last);
    const found = await findPosition(store, leftovers.last);
    const writer = new ArchiveWriter(store, leftovers, found, options);
    if (leftovers.segments.length > 0) await writer.#wholly(() => writer.#addLeftovers(leftovers));
    return writer;
  }

  private constructor(
    store: Store,
    { last, recent, segments }: Leftovers,
    { position, damage }: FoundPosition,
    options: WriterOptions,
  ) {
    this.#damage = damage;
    this.written = options.written ?? nothingWritten();
    this.#store = store;
    this.#leftovers = new Set(segments.map(({ path }) => path));
    this.#options = options;
    this.#isNew = recent.some(({ kind }) => kind === 'begin');
    this.#end = new ChainEnd(store, last, this.#leftovers);
    this.#position = position;
    this.#readFrom = this.#position.readTo;
    this.#pending = this.#newPending();
  }

  get last(): Link {
    return this.#end.last;
  }

  /** The position up to which all entries are committed. */
  get position(): TailPosition {
    return this.#position;
  }

  /** Whether the archive has no committed entries or covered time yet. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** The error of an unusable file of the archive. New entries are archived regardless. */
  get damage(): SvcError | undefined {
    return this.#damage;
  }

  get isFull(): boolean {
    return this.#pending.isFull;
  }

  get waiting(): number {
    return this.#pending.entries;
  }

  /** Adds entries to the next commit. */
  async add(logs: readonly Log[]): Promise<void> {
    await this.#wholly(() => this.#pending.add(logs));
  }

  /**
   * Commits the added entries, if there are any. The position must be directly after the last of them.
   * @throws SvcError `conflict` when another writer was faster, `local`
   */
  async commit(tailPosition: TailPosition): Promise<void> {
    const position = settledBefore(tailPosition, this.#gapTo);
    if (this.#pending.entries === 0 && position.readTo <= this.#position.readTo) return;
    await this.#wholly(() => this.#commit(position));
  }

  /** Commits the entries of killed runs that the archive lacks, and removes their segments. */
  async #addLeftovers(leftovers: Leftovers): Promise<void> {
    const { usable, damage } = await usableLeftovers(this.#store, leftovers);
    this.#damage ??= damage;
    this.#pending = this.#newPending(LEFTOVER);
    const { settled, passed, ...others } = this.#position;
    const lines: TallyLine[] = [...passed];
    for await (const logs of lackingEntries(this.#store, usable)) {
      await this.#pending.add(logs);
      for (const { key, at } of logs.map(entryOf)) if (at >= settled) lines.push([key, at, 1]);
    }
    // The entries count as passed on, because the service is asked for them again. The record covers no time, because the
    // killed run may have read other entries that it did not store.
    const isLacking = this.#pending.entries > 0;
    if (isLacking) await this.#commit({ ...others, settled, passed: new Tally(lines).lines()() });
    else this.#pending = this.#newPending();
    // A run that was killed here before may have left the same file.
    const named = new Set(pathsNamedBy(this.last.record));
    for (const { path } of usable) {
      if (!named.has(path)) for (const file of [indexPath(path), path]) await removeIfAllowed(this.#store, file);
      this.#leftovers.delete(path);
    }
  }

  async #commit(position: TailPosition): Promise<void> {
    const pending = this.#pending;
    this.#pending = this.#newPending(position.readTo);
    const closed = await pending.close();
    const readTo = Math.max(position.readTo, this.#readFrom);
    const range = { read_from: isoTime(this.#readFrom), read_to: isoTime(readTo) };
    const { segments } = await this.#append(async (last) => {
      const stored: Segment[] = [];
      for (const each of closed) stored.push(await storeSegment(this.#store, last.record.sequence + 1, each));
      return { kind: 'segments', segments: stored, ...range, ...this.#stamp() } as const;
    }, position);
    for (const { file } of closed) await fs.promises.rm(file.path, { force: true });
    for (const [at, segment] of segments.entries()) {
      const index = closed[at]?.index;
      if (index) await writeIndex(this.#store, segment, index);
    }
    this.#readFrom = readTo;
    for (const count of COUNTS) this.written[count] += pending[count];
    this.written.segments += segments.length;
  }

  /** Commits a gap, a range in which entries may be missing. All added entries must be committed before. */
  async commitGap(gap: TimeRange): Promise<void> {
    this.#gapTo = gap.to;
    const position = settledBefore(this.#position, gap.to);
    await this.#wholly(() => this.#append(() => ({ kind: 'gap', ...isoRange(gap), ...this.#stamp() }), position));
    this.beginAt(gap.to);
    this.written.gaps.push(gap);
  }

  /**
   * Records that the months older than the limit are dropped, and returns them with the files to remove. The record is committed
   * first, so that the next run can remove what a killed run left. All added entries must be committed before.
   */
  async drop(limit: KeepLimit, by: string): Promise<OldSegments> {
    const old = await findOld(this.#store, limit);
    const draft = { kind: 'dropped', before: isoTime(old.before), months: old.months, by } as const;
    if (old.months.length > 0)
      await this.#wholly(() => this.#append(() => ({ ...draft, ...this.#stamp() }), this.#position));
    return old;
  }

  /** Removes files that a record has dropped, and returns the error of each that cannot be removed. */
  remove(paths: readonly string[]): Promise<ReadonlyMap<string, SvcError>> {
    return removeAll(this.#store, paths);
  }

  /** Moves the beginning of the next commit's time range forward. */
  beginAt(time: number): void {
    this.#readFrom = Math.max(this.#readFrom, time);
  }

  /** Whether nothing has failed. After a failure nothing more is committed, and the next run resumes. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  async #wholly(work: () => Promise<unknown>): Promise<void> {
    if (!this.#isWhole) throw new SvcError('bug', 'a writer was used after a failure');
    this.#isWhole = false;
    const pending = this.#pending;
    try {
      await work();
    } catch (error) {
      pending.abandon();
      if (isSvcError(error, 'local')) await removeUncommitted(this.#store, this.#end.next);
      throw error;
    }
    this.#isWhole = true;
  }

  #newPending(committedTo = this.#position.readTo): Pending {
    const { tenantId, limits = LIMITS } = this.#options;
    return new Pending(this.#store.workDirectory, tenantId, committedTo, limits);
  }

  async #append<C extends RecordContent>(contentAfter: (last: Link) => C | Promise<C>, position: TailPosition) {
    const content = await this.#end.append(contentAfter, position);
    this.#position = position;
    this.#isNew &&= coversNothing(content);
    return content;
  }

  #stamp(): Stamp {
    const { now, machineAhead } = this.#options;
    return stampOf(now(), machineAhead?.() ?? 0);
  }
}

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
async function storeSegment(
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
