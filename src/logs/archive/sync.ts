import { within } from '../../base/within.ts';
import type { Log } from '../../schema/log.ts';
import { LEAST_GAP_MS, type TailPosition, type TimeRange } from '../entry.ts';
import { Tail, type TailEvent } from '../follow/follow.ts';
import type { LogSource } from '../read-range.ts';
import type { ArchiveWriter } from './writer.ts';

export interface SyncOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  /** The longest time between two commits in milliseconds, while there are entries to commit. */
  readonly everyMs: number;
  /** The longest time until the first commit. Default: `everyMs`. */
  readonly firstCommitMs?: number | undefined;
  readonly follow: boolean;
  /** Whether the archive begins with all that the service still has: entries deleted before are then not a gap. */
  readonly isNew: boolean;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  readonly onCommit?: (() => Promise<void>) | undefined;
}

interface Gap {
  readonly range: TimeRange;
  /** The tail's position when the gap was noticed. Entries up to it are committed before the gap. */
  readonly position: TailPosition;
}

export class ArchiveSync {
  readonly #writer: ArchiveWriter;
  readonly #source: LogSource;
  readonly #options: SyncOptions;
  readonly #tail: Tail;
  /** Ends the tail, which would go on polling after a failed commit. */
  readonly #stop = new AbortController();
  /** The position after the last entry that the writer has accepted. */
  #position: TailPosition;
  #gaps: Gap[] = [];
  #committedAt: number;

  constructor(writer: ArchiveWriter, source: LogSource, options: SyncOptions) {
    this.#writer = writer;
    this.#source = source;
    this.#options = options;
    this.#position = writer.position;
    const { overlapMs, retentionMs, follow, everyMs, firstCommitMs = everyMs } = options;
    this.#committedAt = source.clock.now() + firstCommitMs - everyMs;
    const signal = AbortSignal.any([source.signal, this.#stop.signal]);
    const { clock } = source;
    const pages: LogSource['pages'] = (range, pageSize) => source.pages(range, pageSize);
    this.#tail = new Tail(
      { clock, signal, pages, now: () => source.now() },
      {
        begin: writer.position,
        overlapMs,
        retentionMs,
        untilPresent: !follow,
        onEvent: (event) => this.#onEvent(event),
        onPosition: (position) => {
          this.#position = position;
        },
      },
    );
  }

  /** The service's time, and whether it is confirmed. */
  get time(): Tail['time'] {
    return this.#tail.time;
  }

  /**
   * Archives entries until the present, or until the signal. However it ends, accepted entries are committed if possible.
   * @throws SvcError the failure, or the reason of the signal
   */
  async run(): Promise<void> {
    try {
      await this.#takeAll();
    } catch (error) {
      if (this.#writer.isWhole) await this.#commit();
      throw error;
    }
    await this.#commit();
  }

  async #takeAll(): Promise<void> {
    const batches = this.#tail.batches();
    try {
      await this.#take(batches);
    } finally {
      this.#stop.abort();
      batches.return(undefined).catch(() => undefined);
    }
  }

  async #take(batches: AsyncGenerator<readonly Log[]>): Promise<void> {
    for (;;) {
      const { done, value } = await this.#commitWhile(batches.next());
      // Until the next batch is requested, the tail's position is directly after the last one.
      if (done !== true) {
        await this.#commitGaps();
        await this.#writer.add(value);
      }
      this.#position = this.#tail.position();
      if (done === true) return;
      if (this.#writer.isFull || this.#dueInMs() <= 0) await this.#commit();
    }
  }

  /** Waits for the next batch. While the log is quiet, pending entries are committed on time. */
  async #commitWhile<T>(next: Promise<T>): Promise<T> {
    if (!this.#options.follow) return next;
    for (;;) {
      const result = await within(next, Math.max(0, this.#dueInMs()), { clock: this.#source.clock });
      if (result !== 'over') return result;
      await this.#commit();
    }
  }

  #dueInMs(): number {
    return this.#committedAt + this.#options.everyMs - this.#source.clock.now();
  }

  async #commit(): Promise<void> {
    await this.#commitGaps();
    await this.#writer.commit(this.#position);
    this.#committedAt = this.#source.clock.now();
    await this.#options.onCommit?.();
  }

  async #commitGaps(): Promise<void> {
    for (let gap = this.#gaps.shift(); gap !== undefined; gap = this.#gaps.shift()) {
      await this.#writer.commit(gap.position);
      await this.#writer.commitGap(gap.range);
    }
  }

  #onEvent(event: TailEvent): void {
    if (this.#stop.signal.aborted) return;
    if (event.kind === 'gap') {
      const { isNew, position } = this.#writer;
      const isShort = event.to - event.from < LEAST_GAP_MS;
      // Nothing was read before this gap, so the archive begins after it. Entries after it may have been read already.
      if ((this.#options.isNew || isShort) && isNew && event.from <= position.readTo) {
        this.#writer.beginAt(event.to);
        return;
      }
      this.#gaps.push({ range: { from: event.from, to: event.to }, position: this.#position });
    }
    this.#options.onEvent?.(event);
  }
}
