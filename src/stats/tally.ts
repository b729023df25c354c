/** How many entries have one value, and when the first and the last of them were (epoch milliseconds). */
export interface Bucket {
  count: number;
  first: number;
  last: number;
}

/** Stands for every value that came after as many different ones as are kept. */
export const OTHERS = '(others)';

/** A bucket that nothing is in. */
export function emptyBucket(): Bucket {
  return { count: 0, first: Infinity, last: -Infinity };
}

/** Counts an entry of this time; an entry without one is counted too. */
export function fill(bucket: Bucket, at: number | undefined): void {
  bucket.count += 1;
  if (at === undefined) return;
  if (at < bucket.first) bucket.first = at;
  if (at > bucket.last) bucket.last = at;
}

/** Counts entries by one of their values. No more than `most` different values are told apart: memory stays flat. */
export class ValueTally<K> {
  readonly buckets = new Map<K | typeof OTHERS, Bucket>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(value: K, at: number | undefined): Bucket {
    const bucket = this.buckets.get(value) ?? this.#begin(value);
    fill(bucket, at);
    return bucket;
  }

  /** Whether there were more different values than are told apart. */
  get isFull(): boolean {
    return this.buckets.has(OTHERS);
  }

  #begin(value: K): Bucket {
    const key = this.buckets.size < this.#most ? value : OTHERS;
    const bucket = this.buckets.get(key) ?? emptyBucket();
    this.buckets.set(key, bucket);
    return bucket;
  }
}
