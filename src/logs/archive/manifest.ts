// The manifest of an archive: which segments its records name, and which time they cover.

import { SvcError } from '../../base/errors.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { Store } from '../../client/store/store.ts';
import type { TailPosition, TimeRange } from '../entry.ts';
import { appendRecord, otherWriter, readFirst, readLast } from './records/chain.ts';
import { ClockDifferences, Coverage, rangeOf, stampOf } from './records/coverage.ts';
import {
  type ArchiveRecord,
  type BeginRecord,
  coversNothing,
  damaged,
  dayIn,
  type DropRecord,
  isDroppedBy,
  isHidden,
  isReview,
  type Link,
  MANIFEST,
  type RecordContent,
  recordPath,
  type ReviewContent,
  type Segment,
  SEGMENTS,
  unlessDamaged,
} from './records/record.ts';
import { INDEX } from './segment-index.ts';
import { readContents, readPosition, storePosition } from './side-files.ts';

/** A half-open time range, in epoch milliseconds, that may be open on either side. */
export interface Bounds {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** The contents of an archive, from its records in order: the segments that must exist, and the months that were dropped. */
export class Contents {
  first: BeginRecord | undefined;
  readonly coverage = new Coverage();
  readonly clocks = new ClockDifferences();
  /** All signed reviews, in the order of their records. */
  readonly reviews: SignedReview[] = [];
  /** The segments that must exist, in the order of their records. */
  segments: readonly Segment[] = [];
  readonly dropped: Segment[] = [];
  readonly timeless: TimelessSegment[] = [];

  /** Adds the record with this number. */
  add(record: RecordContent, number: number): void {
    this.coverage.add(record);
    this.clocks.add(record);
    if (isReview(record)) this.reviews.push({ ...record.review, number, written_at: record.written_at });
    if (record.kind === 'begin') this.first = record;
    if (record.kind === 'dropped') this.drop(record);
    if (record.kind === 'segments') this.#addSegments(record);
  }

  drop(record: DropRecord): void {
    for (const segment of droppedBy(record, this.segments)) this.dropped.push(segment);
    this.segments = this.segments.filter(({ path }) => !isDroppedBy(record, path));
  }

  #addSegments(record: Extract<RecordContent, { kind: 'segments' }>): void {
    (this.segments as Segment[]).push(...record.segments);
    const range = rangeOf(record.read_from, record.read_to);
    // These entries come from a killed run, which may have read them at any time before this record was written.
    const to = coversNothing(record) ? Math.max(range.to, Date.parse(record.written_at)) : range.to;
    for (const segment of record.segments)
      if (segment.first === null) this.timeless.push({ segment, from: range.from, to });
  }
}

/** Returns the segments that a record drops. */
export function droppedBy(record: Pick<DropRecord, 'before'>, segments: readonly Segment[]): Segment[] {
  return segments.filter(({ path }) => isDroppedBy(record, path));
}

/** Counts the entries of chosen days (UTC) in segments. */
export function entriesOf(
  { segments }: Pick<Contents, 'segments'>,
  { from, to }: Readonly<Record<'from' | 'to', string>>,
): number {
  return sumOfEntries(segments.filter(({ path }) => dayIn(path) >= from && dayIn(path) <= to));
}

export function sumOfEntries(segments: readonly Pick<Segment, 'entries'>[]): number {
  return segments.reduce((sum, { entries }) => sum + entries, 0);
}

/** The contents of an archive, with the segments that can contain entries of a time range. */
export interface Manifest extends Pick<Contents, 'coverage' | 'reviews' | 'segments' | 'timeless'> {
  readonly first: BeginRecord;
  readonly last: Link;
  readonly allSegments: number;
}

/** A segment of entries without a readable time. They were read, and may have happened, at any time in the range. */
export interface TimelessSegment extends TimeRange {
  readonly segment: Segment;
}

/** A signed review, with the number of its record. */
export interface SignedReview extends ReviewContent {
  readonly number: number;
  readonly written_at: string;
}

/**
 * Reads the manifest of an archive: its newest checkpoint, and the chain after it, checked.
 * @throws SvcError `not_found` without an archive, `checksum_mismatch` if it is damaged, `config` if a newer svc wrote it
 */
export async function readManifest(store: Store, bounds: Bounds = {}): Promise<Manifest> {
  const last = await readLast(store);
  if (last === undefined) throw await noArchive(store);
  const contents = new Contents();
  let number = 0;
  for await (const record of readContents(store, last)) contents.add(record, number++);
  const { first, coverage, reviews, timeless } = contents;
  if (first === undefined) throw damaged(recordPath(0), 'it is missing');
  const segments = contents.segments.filter((segment) => isWithin(segment, bounds));
  return { first, last, coverage, segments, timeless, allSegments: contents.segments.length, reviews };
}

/** Reads the manifest together with the position after the newest record. @throws SvcError as `readManifest` */
export async function readManifestAndPosition(
  store: Store,
  bounds: Bounds,
): Promise<Manifest & { readonly position: TailPosition }> {
  for (;;) {
    const manifest = await readManifest(store, bounds);
    try {
      return { ...manifest, position: await readPosition(store, manifest.last) };
    } catch (error) {
      // A concurrent run may have committed more and removed the file of the position.
      if ((await readLast(store))?.sha256 === manifest.last.sha256) throw error;
    }
  }
}

/** Whether retention has dropped a file since the manifest was read, so that the file is not missing. */
export async function isDropped(store: Store, path: unknown): Promise<boolean> {
  const manifest = typeof path === 'string' ? await unlessDamaged(readManifest(store)) : undefined;
  if (typeof path !== 'string' || manifest === undefined) return false;
  const isNamed = manifest.segments.some((segment) => segment.path === path);
  return !isNamed && manifest.coverage.drops.some((drop) => isDroppedBy(drop, path));
}

/** Whether a segment can contain entries of a time range. */
export function isWithin({ first, last }: Segment, { since, until }: Bounds): boolean {
  if (first === null || last === null) return since === undefined && until === undefined;
  return Date.parse(last) >= (since ?? -Infinity) && Date.parse(first) < (until ?? Infinity);
}

/** Returns the error for a location without a manifest: no archive, or one whose manifest was deleted. */
export async function noArchive(store: Store): Promise<SvcError> {
  for await (const { path } of store.list('tenant=')) {
    // Another machine may have begun the archive meanwhile, so this error would be wrong.
    if ((await readLast(store)) !== undefined) break;
    return new SvcError('checksum_mismatch', `the manifest of the archive at ${store.name} is gone`, {
      hint: `Restore ${MANIFEST} from a backup: without it, changes to ${path} cannot be detected.`,
    });
  }
  return new SvcError('not_found', `there is no log archive at ${store.name}`, {
    hint: 'Name the directory or bucket that the logs were archived to, or create an archive:',
    next: ['logs', 'archive', '<dir>'],
  });
}

interface ArchiveSubject {
  /** The base URL of the service. */
  readonly service: string;
  readonly tenantId: string;
}

/** Where an archive begins. Times are epoch milliseconds by the service's clock. */
interface Beginning {
  readonly position: TailPosition;
  /** The requested beginning. Without one, the archive begins with everything that the service still has. */
  readonly since: number | undefined;
  readonly now: number;
  /** The milliseconds by which this machine's clock is ahead of the service's. */
  readonly machineAheadMs?: number | undefined;
}

export interface FoundArchive {
  readonly first: BeginRecord & ArchiveRecord;
  readonly last: Link;
}

/**
 * Finds an archive without changing anything. Returns undefined if the location has none.
 * @throws SvcError `checksum_mismatch` if its manifest is damaged, `config` if a newer svc wrote it
 */
export async function findArchive(store: Store): Promise<FoundArchive | undefined> {
  // The newest record is read first: if another machine begins the archive between the reads, the first one exists.
  const last = await readLast(store);
  if (last === undefined) return undefined;
  const first = await readFirst(store);
  if (first?.record.kind !== 'begin') throw damaged(recordPath(0), 'it is missing');
  return { first: first.record, last };
}

/** @throws SvcError `config` if the archive is of another service or tenant */
export function checkSubject(
  store: Store,
  { first }: Pick<Manifest, 'first'>,
  { service, tenantId }: { readonly service?: string | undefined; readonly tenantId?: string | undefined },
): void {
  if (service !== undefined && service !== first.service)
    throw new SvcError('config', `${store.name} is an archive of ${first.service}, not of ${service}`, {
      hint: 'Choose the profile of that service, or another location for this one.',
      facts: { archive_service: first.service, service },
    });
  if (tenantId !== undefined && tenantId !== first.tenant_id) throw otherTenant(store, first.tenant_id, tenantId);
}

function otherTenant(store: Store, archived: string, found: string): SvcError {
  return new SvcError(
    'config',
    `${store.name} is an archive of tenant ${archived}, and the key is of tenant ${found}`,
    {
      hint: `Nothing was written. Choose the profile of tenant ${archived}, or another location for tenant ${found}.`,
      facts: { archive_tenant_id: archived, tenant_id: found },
    },
  );
}

/**
 * Begins an archive. The caller must have the store's lock.
 * @throws SvcError `config` if the location is not empty, `conflict` if another machine was faster
 */
export async function beginArchive(
  store: Store,
  { service, tenantId }: ArchiveSubject,
  { position, since, now, machineAheadMs = 0 }: Beginning,
): Promise<Link> {
  for await (const path of present(store)) {
    if ((await readFirst(store)) !== undefined) throw otherWriter(store, 0);
    throw new SvcError('config', `${store.name} is not an archive, and not empty: ${path}`, {
      hint: 'Choose an empty location. If it was an archive, its manifest (_manifest/) is gone: restore it from a backup.',
    });
  }
  return appendRecord(store, undefined, {
    kind: 'begin',
    service,
    tenant_id: tenantId,
    since: since === undefined ? null : isoTime(since),
    ...stampOf(now, machineAheadMs),
    position: await storePosition(store, 0, position),
  });
}

/** Yields what a location has already: files of an archive, and whatever does not belong to one. */
async function* present(store: Store): AsyncGenerator<string> {
  for (const name of (await store.names()).filter((each) => !isHidden(each))) {
    if (isForeign(name)) yield name;
    else for await (const { path } of store.list(name)) yield path;
  }
}

/** Whether a file or folder at the top level does not belong to an archive. */
export function isForeign(name: string): boolean {
  return ![MANIFEST, INDEX].includes(name) && !isHidden(name) && !name.startsWith(SEGMENTS);
}
