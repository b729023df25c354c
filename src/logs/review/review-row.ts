import { isoTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { type Bucket, OTHERS, type ValueTally } from '../count.ts';

/** Entries that differ only in entity and message. Absent members, and times if none is readable, are null; times are RFC 3339. */
export interface ReviewRow extends Readonly<
  Record<'entity_type' | 'operation' | 'actor_type' | 'actor_id', string | null>
> {
  readonly count: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
}

type Kind = Partial<Pick<Log, 'entity_type' | 'operation' | 'actor_type' | 'actor_id'>>;

/** Returns the key under which entries of one row are counted. */
export function keyOf({ entity_type, operation, actor_type, actor_id }: Kind): string {
  return JSON.stringify([entity_type ?? null, operation ?? null, actor_type ?? null, actor_id ?? null]);
}

/** Returns rows, the most frequent first. Values after the first thousand are counted as others. */
export function rowsOf({ buckets }: ValueTally<string, Bucket>): ReviewRow[] {
  return [...buckets].toSorted((one, other) => other[1].count - one[1].count || byFirst(one, other)).map(rowOf);
}

// Rows are sorted by first time too, because the index returns groups in another order than the entries.
export function byFirst([a, one]: [string, Bucket], [b, other]: [string, Bucket]): number {
  return one.first - other.first || (a < b ? -1 : 1);
}

/** Returns the row of a key and its bucket. */
export function rowOf([key, { count, first, last }]: [string, Bucket]): ReviewRow {
  const names = key === OTHERS ? [OTHERS, null, null, null] : (JSON.parse(key) as (string | null)[]);
  const [entity_type = null, operation = null, actor_type = null, actor_id = null] = names;
  return {
    entity_type,
    operation,
    actor_type,
    actor_id,
    count,
    first_at: timeOrNull(first),
    last_at: timeOrNull(last),
  };
}

/** Returns the first or last time of a bucket; null if none of its entries has a readable time. */
export function timeOrNull(at: number): string | null {
  return Number.isFinite(at) ? isoTime(at) : null;
}
