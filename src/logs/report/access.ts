// Counts who used the service, for access reviews.

import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorLabels } from '../actor.ts';
import { isWithin, type Manifest, sumOfEntries } from '../archive/manifest.ts';
import { countEntries, readTimeless } from '../archive/open-archive.ts';
import { dayOf, type Segment } from '../archive/records/record.ts';
import {
  type ActorBucket,
  type Bucket,
  bucketOf,
  emptyActor,
  MAX_ACTORS,
  noteType,
  OTHERS,
  ValueTally,
} from '../count.ts';
import { DeletedEntities, type Timeless } from './deleted.ts';
import { missingOf } from './review-rules.ts';
import { MIN_PAST_DAYS, timeOrNull } from './review.ts';
import type { AccessRow } from './views.ts';

/** The time that is reviewed. Epoch milliseconds. */
interface AccessTime {
  readonly from: number;
  readonly to: number;
  /** The actors without an entry from here on are dormant. */
  readonly dormantFrom: number;
  /** Whether the archive covers enough of the time before to call an actor new. */
  readonly hasPast: boolean;
}

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
  add(log: Log, bucket: Bucket): void {
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
  /** Whether enough of the time before was read to call an actor new. */
  readonly hasPast: boolean;
  /** Whether there were too many actors to count each one of these days. */
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
  const hasPast = past.length === 0;
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
    isFull: rows.some(({ actor_id: id }) => id === OTHERS),
    sha256,
  };
}
