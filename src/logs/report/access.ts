// Counts who used the service, for access reviews.

import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText, formatDuration, formatNumber, parseTime, startOfDay } from '../../cli/output/time.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import { isWithin, type Manifest, sumOfEntries } from '../archive/manifest.ts';
import { countEntries, readTimeless } from '../archive/open-archive.ts';
import { isoMissing } from '../archive/records/coverage.ts';
import { dayOf, type Segment } from '../archive/records/record.ts';
import { type ActorBucket, type Bucket, bucketOf, emptyActor, noteType, OTHERS, ValueTally } from '../count.ts';
import type { Sentence } from '../sentences.ts';
import { DeletedEntities, type Timeless, timelessText } from './deleted.ts';
import { type Report, reportTable, type Section } from './report.ts';
import { missingSentences, sourceText, subjectText } from './review-report.ts';
import { missingOf, untilDay } from './review-rules.ts';
import { timeOrNull } from './review.ts';
import { type AccessRow, accessView } from './views.ts';

/** The time that is reviewed. Epoch milliseconds. */
interface AccessTime {
  readonly from: number;
  readonly to: number;
  /** The actors without an entry from here on are dormant. */
  readonly dormantFrom: number;
  /** Whether the archive covers enough of the time before to call an actor new. */
  readonly hasPast: boolean;
}

const MAX_ACTORS = 10_000;
const MAX_TYPES = 100;

/** What one actor did: all entries up to the end of the time are counted, and those within the time once more by kind. */
interface Use extends ActorBucket {
  entries: number;
  reads: number;
  deletes: number;
  hasTimeless: boolean;
  readonly entityTypes: Set<string>;
}

function noUse(): Use {
  return { ...emptyActor(), entries: 0, reads: 0, deletes: 0, hasTimeless: false, entityTypes: new Set() };
}

/** Counts what each actor did in some time, in bounded memory. Reads only documented fields, never messages. */
class AccessCounts {
  readonly #time: AccessTime;
  readonly #actors = new ValueTally<string | null, Use>(MAX_ACTORS, noUse);

  constructor(time: AccessTime) {
    this.#time = time;
  }

  /** Adds an entry, or a bucket of entries that are of one hour and equal to `log` except for their times. */
  add(log: Log, bucket: Bucket = bucketOf(parseTime(log.created_at))): void {
    const { from, to } = this.#time;
    if (bucket.first >= to) return;
    this.#add(log, bucket, bucket.first >= from);
  }

  /** Adds an entry without a readable time that may be of the time. */
  addTimeless(log: Log): void {
    this.#add(log, bucketOf(undefined), true).hasTimeless = true;
  }

  #add(log: Log, bucket: Bucket, isInTime: boolean): Use {
    const use = this.#actors.add(log.actor_id ?? null, bucket);
    noteType(use, log, bucket.first);
    if (!isInTime) return use;
    use.entries += bucket.count;
    if (log.operation === 'read') use.reads += bucket.count;
    if (log.operation === 'delete') use.deletes += bucket.count;
    if (typeof log.entity_type === 'string' && use.entityTypes.size < MAX_TYPES) use.entityTypes.add(log.entity_type);
    return use;
  }

  /** Whether there were too many actors to count each. */
  get isFull(): boolean {
    return this.#actors.isFull;
  }

  /** Returns a row for each actor with entries in the time: who changed and deleted most comes first. */
  rows(names: ReadonlyMap<string, string>): AccessRow[] {
    const { from, dormantFrom, hasPast } = this.#time;
    const rows = [...this.#actors.buckets].flatMap(([id, use]): AccessRow[] => {
      if (use.entries === 0) return [];
      const { type, first, last, entries, reads, deletes, hasTimeless, entityTypes } = use;
      return [
        {
          actor_id: id,
          actor_type: type,
          name: (id === null ? undefined : names.get(id)) ?? null,
          first_at: timeOrNull(first),
          last_at: timeOrNull(last),
          entries,
          reads,
          changes: entries - reads - deletes,
          deletes,
          entity_types: [...entityTypes].toSorted(),
          is_new: hasPast && id !== OTHERS && first !== Infinity ? first >= from : null,
          is_dormant: last < dormantFrom && !hasTimeless,
        },
      ];
    });
    return rows.toSorted(
      (one, other) =>
        other.changes + other.deletes - one.changes - one.deletes ||
        other.entries - one.entries ||
        ((one.actor_id ?? '') < (other.actor_id ?? '') ? -1 : 1),
    );
  }
}

/** The days before that an archive has to cover, so that an actor can be called new. */
const MIN_PAST_DAYS = 7;

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
  /** The entries without a readable time, and the entities that they deleted. */
  readonly timeless: Timeless;
  readonly missing: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
  readonly rows: readonly AccessRow[];
  /** Whether the archive covers enough of the time before to call an actor new. */
  readonly hasPast: boolean;
  /** Whether there were too many actors to count each. */
  readonly isFull: boolean;
  /** The hash of everything else here, without the location and the names of actors. */
  readonly sha256: string;
}

/** Days of an archive, in epoch milliseconds from midnight to midnight. */
interface AccessDays {
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
  const past = coverage.missing({ from: from - MIN_PAST_DAYS * DAY_MS, to: from });
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
    hasPast,
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
  return range && { end: coverage.covered().at(-1)?.to, range: isoMissing(range) };
}

/** Returns the number of findings of each kind; null if it is unknown. */
export function accessFindings({ rows, hasPast, isFull }: Pick<Access, 'rows' | 'hasPast' | 'isFull'>) {
  return {
    actors: rows.length,
    new_actors: hasPast && !isFull ? rows.filter(({ is_new: isNew }) => isNew).length : null,
    dormant: isFull ? null : rows.filter(({ is_dormant: isDormant }) => isDormant).length,
  };
}

/** What the logs do not show. */
export const USE_ONLY =
  'The logs show who used the service, not who is permitted to: compare them with your list of users and keys.';

/** Returns how many actors there are, and how many of them are new or dormant. */
export function accessSummary(access: Access): string {
  if (access.isFull) return `more than ${formatNumber(MAX_ACTORS)} actors, new and dormant ones unknown`;
  const { actors, new_actors: news, dormant } = accessFindings(access);
  const since = formatDuration(access.dormantMs);
  const newText =
    news === null ? 'new ones unknown (the archive has too little of the time before)' : `${formatNumber(news)} new`;
  return `${countText(actors, 'actor')}, ${newText}, ${formatNumber(dormant ?? 0)} dormant (nothing in the last ${since})`;
}

/** Returns the warnings of entries without a readable time, and of too many actors to count each. */
export function accessWarnings({ timeless, isFull }: Pick<Access, 'timeless' | 'isFull'>): string[] {
  return [
    ...(timeless.entries === 0 ? [] : [`counted, of an unknown day: ${timelessText(timeless)}`]),
    ...(isFull
      ? [`too many actors to count each: all after the first ${formatNumber(MAX_ACTORS)} are counted as ${OTHERS}`]
      : []),
  ];
}

/** Returns the actors of an access review with their whole ids, who changed and deleted most comes first. */
export function actorSection({ rows }: Pick<Access, 'rows'>): Section {
  if (rows.length === 0) return { heading: 'Actors', sentences: [['quiet', 'There is no entry.']] };
  const actor = {
    path: 'actor_id',
    header: 'actor',
    kind: 'text',
    show: (_: unknown, row: AccessRow) => wholeActorOf(row),
  } as const;
  return { heading: 'Actors', table: reportTable([actor, ...accessView.columns.slice(1)], rows) };
}

function wholeActorOf(row: AccessRow): string {
  const { actor_id: id, name } = row;
  return wholeActorText(row, new Map(id === null || name === null ? [] : [[id, name]])) || '(no actor)';
}

/** Returns an access review as a page. `madeAt` is in epoch milliseconds. */
export function accessReport(access: Access, madeAt: number): Report {
  return {
    title: `Access review of ${access.from} to ${access.to} (UTC)`,
    sentences: [
      subjectText(access),
      ...missingSentences(access.missing, 'the archive covers all of this time up to its end'),
      ...accessWarnings(access).map((text): Sentence => ['warn', text]),
      USE_ONLY,
      accessSummary(access),
    ],
    source: [sourceText(access.archive, madeAt), `SHA-256 of what is reviewed here: ${access.sha256}`],
    sections: [actorSection(access)],
  };
}
