import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { startOfDay } from '../../cli/output/time.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { ActorLabels } from '../actor.ts';
import { isWithin, type Manifest } from '../archive/manifest.ts';
import { countEntries } from '../archive/open-archive.ts';
import { isoRange } from '../archive/records/coverage.ts';
import { dayOf, type Segment } from '../archive/records/record.ts';
import { readTimeless, sumOfEntries, type Timeless } from '../archive/timeless.ts';
import { AccessCounts, type AccessRow } from './access.ts';
import { DeletedEntities } from './deleted.ts';
import { missingOf, untilDay } from './review-rules.ts';

/** The days before that an archive has to cover, so that an actor can be called new. */
const LEAST_PAST_DAYS = 7;

/** Who used the service in some days of an archive. */
export interface Access {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  /** The first and the last day, UTC. */
  readonly from: string;
  readonly to: string;
  readonly dormantMs: number;
  readonly entries: number;
  /** The entries without a readable time, and what was deleted by them. */
  readonly timeless: Timeless;
  readonly missing: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
  readonly rows: readonly AccessRow[];
  readonly isFull: boolean;
  /** The hash of everything else here, without the location and the names of actors. */
  readonly sha256: string;
}

/** Days of an archive, in epoch milliseconds from midnight to midnight. */
export interface AccessDays {
  readonly dir: string;
  readonly from: number;
  readonly to: number;
  readonly dormantMs: number;
  /** The segments of entries without a readable time that may be of these days. */
  readonly timeless: readonly Segment[];
  /** The names of actors as every view shows them. */
  readonly labels: ActorLabels;
}

/** Counts what each actor did in some days. The manifest must have the segments of all days before, too. */
export async function countAccess(
  context: Context,
  store: Store,
  manifest: Pick<Manifest, 'coverage' | 'first' | 'segments'>,
  { dir, from, to, dormantMs, timeless, labels }: AccessDays,
): Promise<Access> {
  const { coverage, first } = manifest;
  const segments = manifest.segments.filter((segment) => isWithin(segment, { until: to }));
  const end = Math.min(to, coverage.covered().at(-1)?.to ?? to);
  const past = coverage.missing({ from: from - LEAST_PAST_DAYS * DAY_MS, to: from });
  const hasPast = past.reduce((sum, range) => sum + range.to - range.from, 0) === 0;
  const counts = new AccessCounts({ from, to, dormantFrom: end - dormantMs, hasPast });
  const reading = { dir, label: 'access', store, segments, since: -Infinity, until: to };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => counts.add(log, bucket) });
  const deleted = new DeletedEntities();
  await readTimeless(context, { ...reading, segments: timeless }, (log) => {
    counts.addTimeless(log);
    deleted.add(log);
  });
  const rows = counts.rows(labels);
  const days = { from: dayOf(from), to: dayOf(to - 1) };
  const content = {
    service: first.service,
    tenant_id: first.tenant_id,
    ...days,
    entries: rows.reduce((sum, row) => sum + row.entries, 0),
    missing: missingOf(coverage, days),
  };
  const hashed = { ...content, dormantMs, rows: rows.map((row) => Object.assign({}, row, { name: null })) };
  const sha256 = sha256Of(JSON.stringify(hashed));
  return {
    archive: store.name,
    ...content,
    timeless: { entries: sumOfEntries(timeless), deleted: deleted.list() },
    dormantMs,
    rows,
    isFull: counts.isFull,
    sha256,
  };
}

/** Returns the days of an archive from a time on: up to the day of its end, or to the last day that is over before its end. */
export function daysSince(
  { coverage }: Pick<Manifest, 'coverage'>,
  { since, now, onlyOver }: { readonly since: number; readonly now: number; readonly onlyOver: boolean },
) {
  const end = coverage.covered().at(-1)?.to ?? now;
  const overAt = startOfDay(Math.min(end, now));
  return { from: startOfDay(since), to: onlyOver ? overAt : untilDay(dayOf(end - 1)) };
}

/** Time up to the end of yesterday that was not archived. */
export interface Unarchived {
  /** The end of the archive; undefined if it covers no time. */
  readonly end: number | undefined;
  readonly range: { readonly from: string; readonly to: string; readonly reason: string };
}

/** Returns the time from `since` to the end of yesterday that is not archived yet. Today cannot be archived completely. */
export function unarchivedSince(
  { coverage }: Pick<Manifest, 'coverage'>,
  since: number,
  now: number,
): Unarchived | undefined {
  const days = { from: startOfDay(since), to: startOfDay(now) };
  const range = coverage.missing(days).find(({ reason }) => reason === 'not archived yet');
  return range && { end: coverage.covered().at(-1)?.to, range: { ...isoRange(range), reason: range.reason } };
}

/** Returns the number of findings of each kind. */
export function accessFindings({ rows }: Pick<Access, 'rows'>) {
  const isKnown = rows.every(({ is_new: isNew }) => isNew !== null);
  return {
    actors: rows.length,
    new_actors: isKnown ? rows.filter(({ is_new: isNew }) => isNew).length : null,
    dormant: rows.filter(({ is_dormant: isDormant }) => isDormant).length,
  };
}
