import type { Log } from '../../schema/log.ts';

/** An entry with its time in epoch milliseconds. */
export interface Timed {
  readonly at: number;
  readonly log: Log;
}

/** Entries in order of time that are read once they are needed. */
export interface Lane {
  /** No entry is before this time. */
  readonly first: number;
  read(): AsyncGenerator<readonly Timed[]>;
}

const AT_ONCE = 500;

/**
 * Brings lanes into one order of time; where times are equal, in the order of the lanes. A lane is opened when the
 * others have come to its first entry, so what is held is a little of each lane that overlaps there. A batch is given
 * as soon as it has `atOnce` entries.
 */
export async function* merged(lanes: readonly Lane[], atOnce = AT_ONCE): AsyncGenerator<readonly Timed[]> {
  const waiting = lanes.map((lane, order) => ({ lane, order })).toSorted(byFirst);
  const open: OpenLane[] = [];
  let batch: Timed[] = [];
  try {
    for (let next = 0; next < waiting.length || open.length > 0;) {
      const lane = earliest(open);
      const due = waiting[next];
      if (due && (lane === undefined || due.lane.first <= lane.at)) {
        next += 1;
        const opened = new OpenLane(due.lane, due.order);
        if (await opened.fill()) open.push(opened);
        continue;
      }
      if (lane === undefined) continue;
      const limit = Math.min(due?.lane.first ?? Infinity, secondEarliest(open, lane));
      lane.moveInto(batch, limit);
      if (batch.length >= atOnce) {
        yield batch;
        batch = [];
      }
      if (!(await lane.fill())) open.splice(open.indexOf(lane), 1);
    }
    if (batch.length > 0) yield batch;
  } finally {
    for (const lane of open) await lane.close();
  }
}

class OpenLane {
  readonly order: number;
  readonly #source: AsyncGenerator<readonly Timed[]>;
  #batch: readonly Timed[] = [];
  #place = 0;

  constructor(lane: Lane, order: number) {
    this.order = order;
    this.#source = lane.read();
  }

  /** The time of its next entry; only while it has one. */
  get at(): number {
    return this.#batch[this.#place]?.at ?? Infinity;
  }

  /** Makes sure that it has a next entry; false at its end. */
  async fill(): Promise<boolean> {
    while (this.#place >= this.#batch.length) {
      const { done, value } = await this.#source.next();
      if (done === true) return false;
      this.#batch = value;
      this.#place = 0;
    }
    return true;
  }

  /** Hands on its next entry, and those after it that are before `limit`. */
  moveInto(batch: Timed[], limit: number): void {
    for (let isFirst = true; ; isFirst = false) {
      const entry = this.#batch[this.#place];
      if (entry === undefined || (!isFirst && entry.at >= limit)) return;
      batch.push(entry);
      this.#place += 1;
    }
  }

  async close(): Promise<void> {
    await this.#source.return(undefined);
  }
}

function earliest(open: readonly OpenLane[]): OpenLane | undefined {
  let found = open[0];
  for (const lane of open) {
    if (found === undefined || lane.at < found.at || (lane.at === found.at && lane.order < found.order))
      found = lane;
  }
  return found;
}

function secondEarliest(open: readonly OpenLane[], but: OpenLane): number {
  let at = Infinity;
  for (const lane of open) if (lane !== but && lane.at < at) at = lane.at;
  return at;
}

function byFirst(
  one: { readonly lane: Lane; readonly order: number },
  other: { readonly lane: Lane; readonly order: number },
): number {
  return one.lane.first - other.lane.first || one.order - other.order;
}
