import { isSvcError } from '../errors.ts';
import { appendRecord, type Draft } from './chain.ts';
import { clearLeftOvers, dropSegments } from './keep-segments.ts';
import { type Link, parseRecord, recordPath, type Segment } from './record.ts';
import { fromStored, type StoredStanding } from './standing.ts';
import type { ArchiveStore } from './store.ts';

// Where nothing happened for a year, not each of its days is looked through.
const MOST_DAYS_BACK_MS = 35 * 86_400_000;

/** The end of an archive's chain, where its writer adds records. Only under the store's lock. */
export class ChainEnd {
  readonly #store: ArchiveStore;
  readonly #tenantId: string;
  readonly #now: () => number;
  #last: Link;
  #hasCleared = false;

  /** `last` is the newest record; `now` gives the service's time, in epoch milliseconds. */
  constructor(store: ArchiveStore, last: Link, tenantId: string, now: () => number) {
    this.#store = store;
    this.#last = last;
    this.#tenantId = tenantId;
    this.#now = now;
  }

  /** The newest record. */
  get last(): Link {
    return this.#last;
  }

  /** The number of the next record. */
  get next(): number {
    return this.#last.record.sequence + 1;
  }

  /**
   * Commits a record, and with the first one clears away what a killed run has left: that has the number of the newest
   * record, or of the next one. The former goes before there is a next one, so nothing is left of any number before.
   * @throws SvcError `changed` when another writer was faster: then these segments are taken back
   */
  async append(draft: Draft, segments: readonly Segment[]): Promise<void> {
    const isFirst = !this.#hasCleared;
    const { standing } = this.#last.record;
    if (isFirst) await this.#clear(await this.#standingBefore());
    this.#hasCleared = true;
    try {
      this.#last = await appendRecord(this.#store, this.#last, draft);
    } catch (error) {
      if (isSvcError(error, 'changed')) await dropSegments(this.#store, this.next, segments);
      throw error;
    }
    if (isFirst) await this.#clear(standing);
  }

  /** Clears away what the newest record does not name of its number; `before` is where the record before it stood. */
  async #clear(before: StoredStanding): Promise<void> {
    const { settled, readTo } = fromStored(before);
    const window = { from: Math.max(settled, readTo - MOST_DAYS_BACK_MS), to: this.#now() };
    await clearLeftOvers(this.#store, this.#tenantId, this.#last.record, window);
  }

  async #standingBefore(): Promise<StoredStanding> {
    const { sequence, standing } = this.#last.record;
    const path = recordPath(Math.max(0, sequence - 1));
    const text = await this.#store.readText(path);
    return text === undefined ? standing : parseRecord(text, path).record.standing;
  }
}
