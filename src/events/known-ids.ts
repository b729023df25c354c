import { createHash } from 'node:crypto';

const LONGEST_ID = 64;

/** Remembers the last so many ids, in bounded memory: the same event can be delivered more than once. */
export class KnownIds {
  readonly #limit: number;
  readonly #ids = new Set<string>();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** Takes an id in. True when it was known. */
  add(id: string): boolean {
    const key = keyOf(id);
    // Deleted and added anew, an id that keeps coming stays among the last.
    const isKnown = this.#ids.delete(key);
    this.#ids.add(key);
    if (this.#ids.size > this.#limit) for (const oldest of this.#ids) return this.#forget(oldest, isKnown);
    return isKnown;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#ids.size;
  }

  #forget(oldest: string, isKnown: boolean): boolean {
    this.#ids.delete(oldest);
    return isKnown;
  }
}

// An id is whatever the sender puts there, a megabyte of it too.
function keyOf(id: string): string {
  return id.length <= LONGEST_ID ? id : createHash('sha256').update(id).digest('base64');
}
