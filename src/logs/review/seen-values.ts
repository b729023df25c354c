import type { Log } from '../../schema/log.ts';
import { type Bucket, emptyBucket, ValueTally } from '../count.ts';
import { byFirst, keyOf, type ReviewRow, rowOf } from './review-row.ts';

const MAX_SEEN = 100_000;

/** The values of a member on the day, and on the days before. */
export class SeenValues {
  readonly #by: 'actor' | 'operation';
  readonly #before = new Set<string>();
  readonly #today = new ValueTally<string, Bucket>(MAX_SEEN, emptyBucket);

  constructor(by: 'actor' | 'operation') {
    this.#by = by;
  }

  add({ actor_id, actor_type, entity_type, operation }: Log, bucket: Bucket, isToday: boolean): void {
    if (this.#by === 'actor' && typeof actor_id !== 'string') return;
    const key = keyOf(this.#by === 'actor' ? { actor_id, actor_type } : { entity_type, operation });
    if (isToday) this.#today.add(key, bucket);
    else if (this.#before.size <= MAX_SEEN) this.#before.add(key);
  }

  news(): ReviewRow[] | null {
    if (this.#before.size > MAX_SEEN || this.#today.isFull) return null;
    return [...this.#today.buckets]
      .filter(([key]) => !this.#before.has(key))
      .toSorted(byFirst)
      .map(rowOf);
  }
}
