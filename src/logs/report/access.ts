import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { type ActorBucket, type Bucket, bucketOf, emptyActor, noteType, ValueTally } from '../count.ts';
import { timeOrNull } from './review.ts';

/** What an actor did. All rows have the same members. Times are RFC 3339. */
export interface AccessRow {
  /** The id of the actor; null for entries that name none, `(others)` for all actors after the first ten thousand. */
  readonly actor_id: string | null;
  readonly actor_type: string | null;
  /** The name of an application, if it is known, as every view shows it. */
  readonly name: string | null;
  /** The first and the last entry that the archive has of the actor, up to the last of the days; null if no time is readable. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly entries: number;
  readonly reads: number;
  /** Entries with an operation other than read and delete, such as create and update. */
  readonly changes: number;
  readonly deletes: number;
  readonly entity_types: readonly string[];
  /** Whether the archive has no earlier entry of the actor; null if it covers too little of the time before. */
  readonly is_new: boolean | null;
  /** Whether the actor did nothing in the last part of the time. */
  readonly is_dormant: boolean;
}

/** The members of a row, in the order of every table. */
export const ACCESS_FIELDS = [
  'actor_id',
  'actor_type',
  'name',
  'first_at',
  'last_at',
  'entries',
  'reads',
  'changes',
  'deletes',
  'entity_types',
  'is_new',
  'is_dormant',
] as const satisfies readonly (keyof AccessRow)[];

/** The time that is reviewed. Epoch milliseconds. */
export interface AccessTime {
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
export class AccessCounts {
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

  #add(log: Log, bucket: Bucket, isWithin: boolean): Use {
    const use = this.#actors.add(log.actor_id ?? null, bucket);
    noteType(use, log, bucket.first);
    if (!isWithin) return use;
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
          is_new: hasPast ? first >= from : null,
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

/** Returns what is unusual about an actor. */
export function remarkOf({ is_new: isNew, is_dormant: isDormant }: AccessRow): string {
  return [isNew === true ? 'new' : '', isDormant ? 'dormant' : ''].filter(Boolean).join(', ');
}
