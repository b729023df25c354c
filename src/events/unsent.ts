// Keeps the ids of events that did not reach a target.

import { isUnsafe } from '../cli/output/text.ts';
import type { Choice } from './forward.ts';

const MAX_IDS = 5;

// A sender may choose ids of any length.
const MAX_ID_LENGTH = 100;

/** Returns the id of an event, shortened if very long. */
export function shortId(id: string): string {
  return id.length > MAX_ID_LENGTH ? `${id.slice(0, MAX_ID_LENGTH)}…` : id;
}

/** Events that did not reach a target. */
export class Unsent {
  /** The first ids. */
  readonly ids: string[] = [];
  count = 0;
  /** The earliest time of receipt, in epoch milliseconds. The first event need not be the earliest: clocks can be set back. */
  since = Infinity;

  add(id: string, receivedAt: number): void {
    this.count += 1;
    this.since = Math.min(this.since, receivedAt);
    if (this.ids.length < MAX_IDS) this.ids.push(id);
  }

  /** Returns the selection of these events in a journal: by id if they are few and their ids can be typed, else by time. */
  choice(redact: (text: string) => string): Choice {
    const isUntypable = (id: string): boolean => id.length > MAX_ID_LENGTH || isUnsafe(id) || redact(id) !== id;
    const isByTime = this.count > this.ids.length || this.ids.some(isUntypable);
    return isByTime ? { since: this.since } : { ids: this.ids };
  }
}
