import type { Store, StoredFile } from '../../client/store/store.ts';
import type { Finding } from '../archive/records/chain.ts';
import {
  type ArchiveRecord,
  dayIn,
  type DropRecord,
  filesNamedBy,
  isDroppedBy,
  isHidden,
  namedKinds,
  recordPath,
  type Segment,
  SEGMENTS,
  tenantFolder,
  writtenFor,
} from '../archive/records/record.ts';

/** The path of a listed segment, and its counts. */
export interface CountedSegment {
  readonly path: string;
  readonly entries: number;
  readonly bytes: number;
  /** The number of its entries that are of another tenant. */
  readonly shared: number;
}

/** The segments listed by the records read so far, except dropped ones, with their totals. */
export class ListedSegments {
  /** The totals of the segments that are as they were written. `unread` counts the entries of the others. */
  readonly total = { segments: 0, entries: 0, shared: 0, bytes: 0, dropped: 0, unread: 0 };
  readonly #unread = new Set<string>();
  /** The listed paths, and the hashes of segments that cannot be listed twice. */
  readonly #listedBefore = new Set<string>();
  /** Findings of missing files by their paths. A finding is void if a later record drops the segment. */
  readonly #missing = new Map<string, Finding>();
  #kept: CountedSegment[] = [];
  /** The paths of segments that a later record drops. */
  readonly #dropped = new Set<string>();

  /**
   * Whether a segment was listed before. Segments of late or timeless entries can be equal; others cannot, because each
   * record has a separate time range.
   */
  isListedBefore({ path, sha256, supplementary, first }: Segment): boolean {
    const isUnique = !supplementary && first !== null;
    const isBefore = this.#listedBefore.has(path) || (isUnique && this.#listedBefore.has(sha256));
    this.#listedBefore.add(path);
    if (isUnique) this.#listedBefore.add(sha256);
    return isBefore;
  }

  /** Counts a segment. `tenantId` is the tenant of the archive, if it is known. */
  add({ path, entries, bytes }: Segment, tenantId: string | undefined): void {
    const isShared = tenantId !== undefined && !path.startsWith(`${tenantFolder(tenantId)}/`);
    const counted = { path, entries, bytes, shared: isShared ? entries : 0 };
    this.#kept.push(counted);
    this.#count(counted, 1);
  }

  /** Returns the listed segments that a record drops. */
  droppedBy(record: DropRecord): CountedSegment[] {
    return this.#kept.filter(({ path }) => isDroppedBy(record, path));
  }

  /** Returns the number of entries of some days (UTC) in the listed segments. */
  entriesOf({ from, to }: { readonly from: string; readonly to: string }): number {
    const ofDays = this.#kept.filter(({ path }) => dayIn(path) >= from && dayIn(path) <= to);
    return ofDays.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** Stops counting a segment that is gone or has other bytes, so that its entries were not read. */
  markUnread(path: string): void {
    const counted = this.#kept.find((one) => one.path === path);
    if (counted === undefined || this.#unread.has(path)) return;
    this.#unread.add(path);
    this.#count(counted, -1);
    this.total.unread += counted.entries;
  }

  drop(record: DropRecord): void {
    for (const counted of this.droppedBy(record)) {
      if (this.#unread.delete(counted.path)) this.total.unread -= counted.entries;
      else this.#count(counted, -1);
      this.total.dropped += counted.entries;
      this.#dropped.add(counted.path);
    }
    this.#kept = this.#kept.filter(({ path }) => !isDroppedBy(record, path));
  }

  /** Remembers a finding of a missing file, because a later record may drop its segment. */
  addMissing(finding: Finding): void {
    this.#missing.set(finding.path, finding);
  }

  get hasMissing(): boolean {
    return this.#missing.size > 0;
  }

  /** Returns the findings of missing files whose segments no record drops. */
  missing(): Finding[] {
    return this.#kept.flatMap(({ path }) => this.#missing.get(path) ?? []);
  }

  /** Returns the dropped files that are still there: retention could not remove them, was killed, or is at work. */
  async undeleted(store: Store): Promise<string[]> {
    const found: string[] = [];
    if (this.#dropped.size === 0) return found;
    for await (const { path } of namedKinds(store))
      if (this.#dropped.has(path) && (await store.find(path)) !== undefined) found.push(path);
    return found;
  }

  #count({ entries, bytes, shared }: CountedSegment, sign: 1 | -1): void {
    this.total.segments += sign;
    this.total.entries += sign * entries;
    this.total.bytes += sign * bytes;
    this.total.shared += sign * shared;
  }
}

/** The files of an archive that no record read so far lists. */
export class UnlistedFiles {
  readonly #store: Store;
  readonly #files = new Map<string, StoredFile>();

  private constructor(store: Store) {
    this.#store = store;
  }

  /** Lists all files of the kinds that records name: segments, and files beside the records. */
  static async of(store: Store): Promise<UnlistedFiles> {
    const unlisted = new UnlistedFiles(store);
    for await (const file of namedKinds(store)) if (!isHidden(file.path)) unlisted.#files.set(file.path, file);
    return unlisted;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** The total size of the segments among the files. */
  get segmentBytes(): number {
    const segments = [...this.#files.values()].filter(({ path }) => path.startsWith(SEGMENTS));
    return segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Removes the files that a record lists, except its segments. */
  removeOthersOf(record: ArchiveRecord): void {
    for (const { path } of filesNamedBy(record).side) this.#files.delete(path);
  }

  /** Whether all files are those of one record, so that a run that is about to commit it may have written them. */
  areOf(sequence: number): boolean {
    return [...this.#files.values()].every(({ path, irregular }) => !irregular && writtenFor(path) === sequence);
  }

  /** Forgets files that are gone, such as those of a run that another one overtook. */
  async forgetRemoved(): Promise<void> {
    for (const { path } of this.#files.values())
      if ((await this.#store.find(path)) === undefined) this.#files.delete(path);
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  /** Removes a listed file, and returns it. A file that the list lacks is looked up: the list may be older. */
  async take(path: string): Promise<StoredFile | undefined> {
    const found = this.#files.get(path);
    this.#files.delete(path);
    return found ?? this.#store.find(path);
  }

  /**
   * Returns a finding for each remaining file. `newest` is the number of the newest record, and `written` that of the newest
   * one that is more than a review or what killed runs left. The next run adds what is in files of that one and later ones.
   */
  findings(newest: number, written: number): Finding[] {
    const files = [...this.#files.values()];
    const cut = `no record lists it: the records from ${recordPath(newest + 1)} on are missing`;
    const isCut = files.some(({ path }) => writtenFor(path) > newest + 1);
    return files.map(({ path, irregular }) => {
      const number = writtenFor(path);
      if (irregular !== undefined)
        return { problem: 'unlisted', path, message: `it is ${irregular}, and no record lists it` };
      if (isCut && number > newest) return { problem: 'unlisted', path, message: cut };
      return { problem: 'unlisted', path, message: number >= written ? LEFT_BY_RUN : 'no record lists it' };
    });
  }
}

/** Why no record lists a file that belongs to the next record. */
export const LEFT_BY_RUN =
  'no record lists it: a killed run left it, or a run is writing it; the next run of svc logs archive adds what is in it';
