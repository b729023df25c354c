import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { damagedBytes, isReadable, logText } from '../../client/api/logs.ts';
import type { Store } from '../../client/store/store.ts';
import { beyond, byTime, countByKey, type Entry, entryOf } from '../entry.ts';
import { type LogSource, readSettled } from '../read-range.ts';
import { readManifest } from './manifest.ts';
import { readSegment } from './read-segment.ts';
import { dayIn, isRawSegment, type Segment, tenantFolder } from './records/record.ts';
import { SegmentFile } from './segment.ts';

/** The failures after which a segment stays missing, as it was. The run reports it. */
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
  for (const { at, log } of beyond(own, ({ key }) => archived.get(key) ?? 0))
    await file.add({ at, log, line: logText(log), bytes: damagedBytes(log) });
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
