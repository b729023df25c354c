// Reads the log and commits its entries to an archive, through outages of the store.

import { isSvcError } from '../../base/errors.ts';
import { within } from '../../base/within.ts';
import type { Log } from '../../schema/log.ts';
import { isBeforeFirst, type TailPosition, type TimeRange } from '../entry.ts';
import type { LogSource } from '../read-range.ts';
import { Tail, type TailEvent } from '../tail/follow.ts';
import type { ArchiveWriter, Written } from './writer.ts';

export interface SyncOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  /** The longest time between two commits in milliseconds, while there are entries to commit. */
  readonly everyMs: number;
  readonly follow: boolean;
  /** Whether the archive begins with everything that the service still has, so that earlier deleted entries are no gap. */
  readonly beginsWithAll: boolean;
  /** Opens the archive again, as another run would, for a writer that adds to what was written. */
  readonly reopen: (written: Written) => Promise<ArchiveWriter>;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  readonly onCommit?: ((writer: ArchiveWriter) => Promise<void>) | undefined;
}

/** The failures of a store that end without anybody's action. */
const OUTAGE = ['network', 'server', 'rate_limited'] as const;

const MAX_PAUSE_MS = 300_000;

interface Gap {
  readonly range: TimeRange;
  /** The tail's position when the gap was noticed. Entries up to it are committed before the gap. */
  readonly position: TailPosition;
}

/** The reading of the log for one writer. */
interface Reading {
  readonly writer: ArchiveWriter;
  readonly tail: Tail;
  /** Ends the tail, which would go on polling after a failed commit. */
  readonly stop: AbortController;
  /** The newest record before anything was read. */
  readonly sequence: number;
  /** The position after the last entry that the writer has accepted. */
  position: TailPosition;
  gaps: Gap[];
  committedAt: number;
}

/**
 * Keeps an archive up to date. With `follow`, it survives an outage of the store: after a failed commit, the store may or may not
 * have the record, so the archive is opened again, and the log is read from the archive's end.
 */
export class ArchiveSync {
  readonly #source: LogSource;
  readonly #options: SyncOptions;
  #reading: Reading;
  /** The failures since the last commit. */
  #failures = 0;
  /** The outage under way. It is over when the present was read and a commit succeeded. */
  #outage: { readonly at: number; hasPolled: boolean; hasCommitted: boolean } | undefined;

  constructor(writer: ArchiveWriter, source: LogSource, options: SyncOptions) {
    this.#source = source;
    this.#options = options;
    this.#reading = this.#begin(writer, options.everyMs);
  }

  /** The writer in use. */
  get writer(): ArchiveWriter {
    return this.#reading.writer;
  }

  /** The service's time, and whether it is confirmed. */
  get time(): Tail['time'] {
    return this.#reading.tail.time;
  }

  /** How far the log was read beyond the archive's end, because only `Date` headers show that it is so late. */
  get unprovenMs(): number {
    return this.#reading.tail.unprovenMs;
  }

  /**
   * Archives entries until the present, or until the signal. However it ends, accepted entries are committed if possible.
   * @throws SvcError the failure, or the reason of the signal
   */
  async run(): Promise<void> {
    for (let hasFailed = false; ; hasFailed = true) {
      try {
        if (hasFailed) await this.#reopen();
        return await this.#readOn();
      } catch (error) {
        if (!this.#isOutage(error)) throw error;
        await this.#waitOut(error.message);
      }
    }
  }

  /** Begins to read at the end of what the writer has, with the first commit after some time. */
  #begin(writer: ArchiveWriter, firstCommitMs: number): Reading {
    const { clock, signal } = this.#source;
    const { overlapMs, retentionMs, follow, everyMs } = this.#options;
    const stop = new AbortController();
    const source: LogSource = {
      clock,
      signal: AbortSignal.any([signal, stop.signal]),
      pages: (range, pageSize) => this.#source.pages(range, pageSize),
      now: () => this.#source.now(),
    };
    const tail = new Tail(source, {
      begin: writer.position,
      overlapMs,
      retentionMs,
      untilPresent: !follow,
      onEvent: (event) => {
        if (!stop.signal.aborted) this.#onEvent(event);
      },
      onPosition: (position) => {
        reading.position = position;
      },
    });
    const committedAt = clock.now() + firstCommitMs - everyMs;
    const { sequence } = writer.last.record;
    const reading: Reading = { writer, tail, stop, sequence, position: writer.position, gaps: [], committedAt };
    return reading;
  }

  async #readOn(): Promise<void> {
    try {
      await this.#takeAll();
    } catch (error) {
      if (this.writer.isWhole) await this.#commit();
      throw error;
    }
    await this.#commit();
  }

  async #takeAll(): Promise<void> {
    const { tail, stop } = this.#reading;
    const batches = tail.batches();
    try {
      await this.#take(batches);
    } finally {
      stop.abort();
      batches.return(undefined).catch(() => undefined);
    }
  }

  async #take(batches: AsyncGenerator<readonly Log[]>): Promise<void> {
    const { writer, tail } = this.#reading;
    for (;;) {
      const { done, value } = await this.#commitWhile(batches.next());
      // Until the next batch is requested, the tail's position is directly after the last one.
      if (done !== true) {
        await this.#commitGaps();
        await writer.add(value);
      }
      this.#reading.position = tail.position();
      if (done === true) return;
      if (writer.isFull || this.#dueInMs() <= 0) await this.#commit();
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
    return this.#reading.committedAt + this.#options.everyMs - this.#source.clock.now();
  }

  async #commit(): Promise<void> {
    const { writer, sequence } = this.#reading;
    await this.#commitGaps();
    await writer.commit(this.#reading.position);
    this.#reading.committedAt = this.#source.clock.now();
    if (writer.last.record.sequence > sequence) this.#noteCommit();
    await this.#options.onCommit?.(writer);
  }

  async #commitGaps(): Promise<void> {
    const { writer, gaps } = this.#reading;
    for (let gap = gaps.shift(); gap !== undefined; gap = gaps.shift()) {
      await writer.commit(gap.position);
      await writer.commitGap(gap.range);
    }
  }

  async #reopen(): Promise<void> {
    this.#reading = this.#begin(await this.#options.reopen(this.writer.written), this.#pauseMs);
  }

  // After a lost response, the next attempt may find its own record in the place of the new one.
  #isOutage(error: unknown): error is Error {
    if (!this.#options.follow || this.#source.signal.aborted || !isSvcError(error)) return false;
    return (isSvcError(error, ...OUTAGE) && error.retryable) || (error.code === 'conflict' && this.#failures > 0);
  }

  async #waitOut(reason: string): Promise<void> {
    const { clock, signal } = this.#source;
    this.#failures += 1;
    if (this.#outage === undefined) this.#options.onEvent?.({ kind: 'disconnected', reason, nextMs: this.#pauseMs });
    this.#outage = { at: this.#outage?.at ?? clock.now(), hasPolled: false, hasCommitted: false };
    await clock.sleep(this.#pauseMs, signal);
  }

  get #pauseMs(): number {
    return Math.min(this.#options.everyMs, MAX_PAUSE_MS, 1_000 * 2 ** (this.#failures - 1));
  }

  #noteCommit(): void {
    this.#failures = 0;
    if (this.#outage) this.#outage.hasCommitted = true;
    this.#endOutage();
  }

  /** Keeps gaps for the next commit, and passes events on. Events of progress are dropped while the store has an outage. */
  #onEvent(event: TailEvent): void {
    if (event.kind === 'gap') {
      const { writer, gaps, position } = this.#reading;
      // Nothing was read before this gap, so the archive begins after it. Entries after it may have been read already.
      if (writer.isNew && isBeforeFirst(writer.position, event, this.#options.beginsWithAll ? Infinity : undefined))
        return writer.beginAt(event.to);
      gaps.push({ range: { from: event.from, to: event.to }, position });
    }
    if (this.#outage === undefined || event.kind === 'gap' || event.kind === 'disconnected' || event.kind === 'delayed')
      return this.#options.onEvent?.(event);
    if (event.kind === 'polled') this.#outage.hasPolled = true;
    this.#endOutage();
  }

  #endOutage(): void {
    if (this.#outage?.hasPolled !== true || !this.#outage.hasCommitted) return;
    const afterMs = this.#source.clock.now() - this.#outage.at;
    this.#outage = undefined;
    this.#options.onEvent?.({ kind: 'caught up', afterMs, entries: 0 });
  }
}
