// Finds recorded files that are missing or changed, and writes missing segments again from the service.

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import { isReadable } from '../../client/api/logs.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS, HOUR_MS } from '../../schema/durations.ts';
import { beyond, byTime, countByKey, type Entry, entryOf } from '../entry.ts';
import { type LogSource, readSettled } from '../read-range.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { readSegment } from './read-segment.ts';
import { changedRecord, damageOf, readLast } from './records/chain.ts';
import {
  dayIn,
  dayOf,
  filesNamedBy,
  isHidden,
  isRawSegment,
  MANIFEST,
  MISSING,
  partNumber,
  recordPath,
  type Segment,
  tenantFolder,
} from './records/record.ts';
import { SegmentFile } from './segment.ts';

/** Recorded files that are missing from the archive or changed. */
export interface LostFiles {
  readonly missing: readonly string[];
  /** Paths with a file of another size, or with something that is not a regular file. */
  readonly changed: readonly string[];
}

/** The days searched in a bucket. Listing more would cost every run one request for each thousand files. */
const DAYS_IN_BUCKET = 30;

/** The number of files looked up at a time. */
const LOOKED_UP = 16;

/**
 * Compares the names and sizes of files with the records, without reading the files. In a bucket only the newest 30 days.
 * @throws SvcError `config` for a newer version, `local`
 */
export async function findLost(store: Store): Promise<LostFiles> {
  for (;;) {
    try {
      const manifest = await readManifest(store);
      const lost = await lostOf(store, manifest);
      // Another run may have dropped months or replaced a checkpoint meanwhile.
      const isSettled = lost.missing.length === 0 || (await readLast(store))?.sha256 === manifest.last.sha256;
      if (isSettled) return lost;
    } catch (error) {
      const path = isSvcError(error, 'checksum_mismatch') ? error.facts?.['path'] : undefined;
      if (typeof path !== 'string') throw error;
      if (damageOf(error, path) === MISSING) return { missing: [path], changed: [] };
      return { missing: [], changed: [await changedRecord(store, path)] };
    }
  }
}

async function lostOf(store: Store, { segments, last }: Manifest): Promise<LostFiles> {
  const end = Date.parse(last.record.position.read_to);
  const firstDay = store.isRemote ? dayOf(end - DAYS_IN_BUCKET * DAY_MS) : '';
  const searched = segments.filter(({ path }) => dayIn(path) >= firstDay);
  const sizes = new Map<string, number | undefined>(searched.map(({ path, bytes }) => [path, bytes]));
  const newest = last.record.sequence;
  const oldest = store.isRemote ? searched.reduce((least, { path }) => Math.min(least, partNumber(path)), newest) : 0;
  for (let sequence = oldest; sequence <= newest; sequence += 1) sizes.set(recordPath(sequence), undefined);
  for (const { path } of filesNamedBy(last.record).side) sizes.set(path, undefined);
  const changed: string[] = [];
  for await (const { path, bytes, irregular } of listed(store, [...sizes.keys()], firstDay)) {
    if (!sizes.has(path)) continue;
    const due = sizes.get(path) ?? bytes;
    if (due !== bytes || irregular !== undefined) changed.push(path);
    sizes.delete(path);
  }
  const missing: string[] = [];
  // A list may not yet show a file that another machine has just written.
  for await (const { path, due, file } of sideBySide(sizes, LOOKED_UP, async ([name, size]) => ({
    path: name,
    due: size,
    file: await store.find(name),
  }))) {
    if (file === undefined) missing.push(path);
    else if (file.irregular !== undefined || (due ?? file.bytes) !== file.bytes) changed.push(path);
  }
  return { missing, changed };
}

async function* listed(store: Store, paths: readonly string[], firstDay: string) {
  const folders = new Set(
    paths.filter((path) => !path.startsWith(MANIFEST)).map((path) => path.split('/', 1).join('')),
  );
  for (const folder of folders) yield* store.list(`${folder}/`, `${folder}/date=${firstDay}`);
  const firstRecord = paths.filter((path) => path.startsWith(MANIFEST)).toSorted()[0] ?? MANIFEST;
  for await (const file of store.list(MANIFEST, firstRecord.slice(0, -1))) if (!isHidden(file.path)) yield file;
}

interface WatchOptions {
  /** Called when the set of lost files has changed. */
  readonly onChange: ((lost: LostFiles) => void) | undefined;
  /** Writes missing files again where that is possible. Returns their paths. */
  readonly restore: (missing: readonly string[]) => Promise<readonly string[]>;
}

/** Searches for lost files in follow mode: at most once an hour, reporting only changes. */
export class LostFilesWatch {
  readonly #store: Store;
  readonly #options: WatchOptions;
  #checkedAt = -Infinity;
  #lost: LostFiles | undefined;

  constructor(store: Store, options: WatchOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** The result of the newest search; undefined before the first one. */
  get lost(): LostFiles | undefined {
    return this.#lost;
  }

  /** Searches if the last search is an hour ago. `now` is in epoch milliseconds. */
  async lookIfDue(now: number): Promise<void> {
    if (now - this.#checkedAt < HOUR_MS) return;
    this.#checkedAt = now;
    await this.look();
  }

  async look(): Promise<void> {
    const before = this.#lost ?? { missing: [], changed: [] };
    let lost = await findLost(this.#store);
    // In a directory, somebody removed the file, which must be reported and not hidden (R76).
    if (this.#store.isRemote && lost.missing.length > 0) {
      const restored = new Set(await this.#options.restore(lost.missing));
      lost = { ...lost, missing: lost.missing.filter((path) => !restored.has(path)) };
    }
    this.#lost = lost;
    if (JSON.stringify(lost) !== JSON.stringify(before)) this.#options.onChange?.(lost);
  }
}

/** The failures after which a segment stays missing, and the run reports it. */
const LEFT_MISSING = ['checksum_mismatch', 'not_found', 'network', 'server', 'rate_limited', 'truncated'] as const;

/**
 * Writes segments again that a bucket confirmed without storing them, while the service still has their entries. Only a file
 * with the recorded hash gets the name. Late entries and those of other tenants were written in another order and stay
 * missing.
 * @returns the paths that were written again
 */
export async function restoreSegments(
  store: Store,
  source: LogSource,
  tenantId: string,
  missing: readonly string[],
): Promise<string[]> {
  const { segments } = await readManifest(store);
  const restored: string[] = [];
  for (const segment of segments.filter((one) => missing.includes(one.path) && isUsual(one, tenantId))) {
    try {
      const others = segments.filter((one) => one !== segment && !missing.includes(one.path) && meets(one, segment));
      if (await restore(store, source, tenantId, segment, others)) restored.push(segment.path);
    } catch (error) {
      if (!isSvcError(error, ...LEFT_MISSING)) throw error;
    }
  }
  return restored;
}

function isUsual(segment: Segment, tenantId: string): boolean {
  const isOwn = segment.path.startsWith(`${tenantFolder(tenantId)}/`);
  return isOwn && segment.first !== null && !segment.supplementary && !isRawSegment(segment);
}

function meets(one: Segment, { path: file, first, last }: Segment): boolean {
  const isBeside = path.posix.dirname(one.path) === path.posix.dirname(file);
  const times = [one.first, one.last, first, last].map((time) => Date.parse(time ?? ''));
  const [oneFirst = Number.NaN, oneLast = Number.NaN, from = Number.NaN, to = Number.NaN] = times;
  return isBeside && oneFirst <= to && oneLast >= from;
}

async function restore(
  store: Store,
  source: LogSource,
  tenantId: string,
  segment: Segment,
  others: readonly Segment[],
): Promise<boolean> {
  const range = { from: Date.parse(segment.first ?? ''), to: Date.parse(segment.last ?? '') + 1 };
  const { entries } = await readSettled(source, range);
  const own = entries
    .filter(({ at, log }) => at >= range.from && at < range.to && isReadable(log) && isOf(tenantId, log.tenant_id))
    .toSorted(byTime);
  const archived = countByKey(await entriesOf(store, others));
  const name = path.join(store.workDirectory, `${randomBytes(8).toString('hex')}.gz`);
  const file = new SegmentFile(name, { tenantId, day: dayIn(segment.path), supplementary: false, isRaw: false });
  for (const entry of beyond(own, ({ key }) => archived.get(key) ?? 0)) await file.add(entry);
  const { file: written } = await file.close();
  return written.sha256 === segment.sha256 && (await store.create(segment.path, written)) === 'created';
}

function isOf(tenantId: string, entryTenant: string | null | undefined): boolean {
  return (entryTenant ?? tenantId) === tenantId;
}

async function entriesOf(store: Store, segments: readonly Segment[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const segment of segments)
    for await (const logs of readSegment(store, segment)) entries.push(...logs.map((log) => entryOf(log)));
  return entries;
}
