import { isSvcError } from '../../base/errors.ts';
import type { TailEvent } from '../follow/follow.ts';
import type { LogSource } from '../read-range.ts';
import { ArchiveSync, type SyncOptions } from './sync.ts';
import { addWritten, type ArchiveWriter, type Written } from './writer.ts';

export interface SteadyOptions extends Omit<SyncOptions, 'isNew' | 'firstCommitMs' | 'onCommit'> {
  /** Whether the archive begins with all that the service still has: entries deleted before are then not a gap. */
  readonly beginsWithAll: boolean;
  /** Opens the archive again, as another run would. */
  readonly reopen: () => Promise<ArchiveWriter>;
  readonly onCommit: (writer: ArchiveWriter, written: Written) => Promise<void>;
}

/** The failures of a store that pass without anybody's action. */
const OUTAGE = ['network', 'server', 'rate_limited'] as const;

const LONGEST_PAUSE_MS = 300_000;

/**
 * Keeps an archive up to date. With `follow`, an outage of the store does not end it. After a failed commit nobody knows
 * what the store has, so the archive is opened again as another run would do, and the log is read from its end.
 */
export class SteadySync {
  readonly #source: LogSource;
  readonly #options: SteadyOptions;
  #writer: ArchiveWriter;
  #sync: ArchiveSync;
  /** What earlier writers have written. */
  #before: Written | undefined;
  /** The failures since the last commit. */
  #failures = 0;
  /** The outage under way. It is over when the present was read and a commit succeeded. */
  #outage: { readonly at: number; hasPolled: boolean; hasCommitted: boolean } | undefined;

  constructor(writer: ArchiveWriter, source: LogSource, options: SteadyOptions) {
    this.#source = source;
    this.#options = options;
    this.#writer = writer;
    this.#sync = this.#newSync(writer);
  }

  /** The writer in use. */
  get writer(): ArchiveWriter {
    return this.#writer;
  }

  get written(): Written {
    return this.#before ? addWritten(this.#before, this.#writer.written) : this.#writer.written;
  }

  /** The service's time, and whether it is confirmed. */
  get time(): ArchiveSync['time'] {
    return this.#sync.time;
  }

  /** Archives entries as `ArchiveSync` does. @throws SvcError the failure, or the reason of the signal */
  async run(): Promise<void> {
    for (let hasFailed = false; ; hasFailed = true) {
      try {
        if (hasFailed) await this.#reopen();
        return await this.#sync.run();
      } catch (error) {
        if (!this.#isOutage(error)) throw error;
        await this.#waitOut(error.message);
      }
    }
  }

  #newSync(writer: ArchiveWriter, firstCommitMs?: number): ArchiveSync {
    const { beginsWithAll, onCommit, ...options } = this.#options;
    const { sequence } = writer.last.record;
    return new ArchiveSync(writer, this.#source, {
      ...options,
      firstCommitMs,
      isNew: writer.isNew && beginsWithAll,
      onEvent: (event) => this.#onEvent(event),
      onCommit: async () => {
        if (writer.last.record.sequence > sequence) this.#noteCommit();
        await onCommit(writer, this.written);
      },
    });
  }

  async #reopen(): Promise<void> {
    const writer = await this.#options.reopen();
    this.#before = this.written;
    this.#writer = writer;
    this.#sync = this.#newSync(writer, this.#pauseMs);
  }

  // The record that the next attempt finds in its place can be the one whose response was lost.
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
    return Math.min(this.#options.everyMs, LONGEST_PAUSE_MS, 1_000 * 2 ** (this.#failures - 1));
  }

  #noteCommit(): void {
    this.#failures = 0;
    if (this.#outage) this.#outage.hasCommitted = true;
    this.#endOutage();
  }

  /** Passes on events, except those that would report progress while nothing can be committed. */
  #onEvent(event: TailEvent): void {
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
