import type { Log } from '../../schema/log.ts';
import { type Bucket, emptyBucket, ValueTally } from '../count.ts';
import { keyOf, type ReviewRow, rowsOf } from './review-row.ts';

/** The most groups that are counted one by one. All others are one more row. */
export const MOST_GROUPS = 1_000;
/** The entity types whose changes are reported, whoever makes them. */
const GUARDED: ReadonlySet<string> = new Set(['application', 'applications', 'key', 'keys', 'tenant', 'tenants']);

/** Counts what somebody should look at: deletions, and other changes of applications, keys and the tenant. */
export class ChangeCounts {
  readonly #deletions = new ValueTally<string, Bucket>(MOST_GROUPS, emptyBucket);
  readonly #changes = new ValueTally<string, Bucket>(MOST_GROUPS, emptyBucket);

  /** Adds an entry, or a bucket of entries that differ only in their times. */
  add(log: Log, bucket: Bucket): void {
    if (log.operation === 'delete') this.#deletions.add(keyOf(log), bucket);
    else if (log.operation !== 'read' && isGuarded(log)) this.#changes.add(keyOf(log), bucket);
  }

  rows(): { readonly deletions: readonly ReviewRow[]; readonly changes: readonly ReviewRow[] } {
    return { deletions: rowsOf(this.#deletions), changes: rowsOf(this.#changes) };
  }
}

// A type such as `application_key` consists of two guarded words.
function isGuarded({ entity_type: type }: Log): boolean {
  return (type ?? '')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => GUARDED.has(word));
}
