import type { Finding } from '../archive/records/chain.ts';
import { dayIn, type DropRecord, isDroppedBy, type Segment, tenantFolder } from '../archive/records/record.ts';

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

  #count({ entries, bytes, shared }: CountedSegment, sign: 1 | -1): void {
    this.total.segments += sign;
    this.total.entries += sign * entries;
    this.total.bytes += sign * bytes;
    this.total.shared += sign * shared;
  }
}
