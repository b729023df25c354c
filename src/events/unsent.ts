// Keeps the ids of events that did not reach a target.

import { isUnsafe } from '../cli/output/text.ts';
import type { Choice } from './forward.ts';

const MOST_IDS = 5;

// A sender may choose ids of any length.
const LONGEST_ID = 100;

/** Returns the id of an event, or its beginning if it is very long. */
export function shortId(id: string): string {
  return id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID)}…` : id;
}

/** Events that did not reach a target. */
export class Unsent {
  /** The first ids. */
  readonly ids: string[] = [];
  count = 0;
  /** When the earliest of them was received, in epoch milliseconds: a clock may have been set back between two events. */
  since = Infinity;

  add(id: string, receivedAt: number): void {
    this.count += 1;
    this.since = Math.min(this.since, receivedAt);
    if (this.ids.length < MOST_IDS) this.ids.push(id);
  }

  /** Returns what selects them in a journal: a few by their ids; many, or ids that nobody can type, by their time. */
  choice(redact: (text: string) => string): Choice {
    const isUntypable = (id: string): boolean => id.length > LONGEST_ID || isUnsafe(id) || redact(id) !== id;
    const isByTime = this.count > this.ids.length || this.ids.some(isUntypable);
    return isByTime ? { since: this.since } : { ids: this.ids };
  }
}
