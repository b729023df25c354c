import type { Log } from '../../schema/log.ts';
import type { TimeRange } from '../entry.ts';
import { Tail, type TailEvent } from '../follow.ts';
import type { TailPosition } from '../position.ts';
import type { LogSource } from '../read-range.ts';
import type { ArchiveWriter } from './writer.ts';

/** How an archive is brought up to date. */
export interface CatchUpOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  /** The longest time between two commits, in milliseconds, as long as there is something to commit. */
  readonly everyMs: number;
  /** Goes on when it has reached the present. */
  readonly follow: boolean;
  /** What retention had taken away before the archive began is no gap in it. */
  readonly isNew: boolean;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  /** Called after each commit. */
  readonly onCommit?: (() => void) | undefined;
}

interface Gap {
  readonly window: TimeRange;
  /** Where the tail stood when it was noticed: what it had given by then comes before the gap. */
  readonly standing: TailPosition;
}

/**
 * Brings an archive up to date from a log, or keeps it so. However it ends, what was taken is committed, as far as
 * the store allows.
 * @throws SvcError that ended it; the signal's reason
 */
export async function syncArchive(
  writer: ArchiveWriter,
  source: LogSource,
  options: CatchUpOptions,
): Promise<void> {
  await new ArchiveSync(writer, source, options).run();
}

class ArchiveSync {
  readonly #writer: ArchiveWriter;
  readonly #source: LogSource;
  readonly #options: CatchUpOptions;
  readonly #tail: Tail;
  /** Covers exactly what the writer has taken. */
  #standing: TailPosition;
  #gaps: Gap[] = [];
  #committedAt: number;

  constructor(writer: ArchiveWriter, source: LogSource, options: CatchUpOptions) {
    this.#writer = writer;
    this.#source = source;
    this.#options = options;
    this.#standing = writer.standing;
    this.#committedAt = source.clock.now();
    const { overlapMs, retentionMs, follow } = options;
    this.#tail = new Tail(source, {
      begin: writer.standing,
      overlapMs,
      retentionMs,
      untilPresent: !follow,
      onEvent: (event) => this.#note(event),
      onPosition: (standing) => {
        this.#standing = standing;
      },
    });
  }

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
    for (;;) {
      const { done, value } = await this.#commitWhile(batches.next());
      // Until it is asked for more, the tail stands right behind what it gave.
      if (done !== true) await this.#take(value);
      this.#standing = this.#tail.position();
      if (done === true) return;
      if (this.#writer.isFull || this.#dueInMs() <= 0) await this.#commit();
    }
  }

  async #take(batch: readonly Log[]): Promise<void> {
    await this.#commitGaps();
    await this.#writer.add(batch);
  }

  /** Waits for more. Where the log is quiet meanwhile, what waits is committed when its time has come. */
  async #commitWhile<T>(next: Promise<T>): Promise<T> {
    if (!this.#options.follow) return next;
    for (;;) {
      const come = await this.#within(next, Math.max(0, this.#dueInMs()));
      if (come !== undefined) return come.value;
      await this.#commit();
    }
  }

  async #within<T>(next: Promise<T>, ms: number): Promise<{ value: T } | undefined> {
    const done = new AbortController();
    const over = this.#source.clock.sleep(ms, done.signal);
    // While the commit is made nobody listens to it.
    next.catch(ignore);
    try {
      return await Promise.race([next.then((value) => ({ value })), over.then(() => undefined)]);
    } finally {
      done.abort();
      over.catch(ignore);
    }
  }

  #dueInMs(): number {
    return this.#committedAt + this.#options.everyMs - this.#source.clock.now();
  }

  async #commit(): Promise<void> {
    await this.#commitGaps();
    await this.#writer.commit(this.#standing);
    this.#committedAt = this.#source.clock.now();
    this.#options.onCommit?.();
  }

  async #commitGaps(): Promise<void> {
    for (let gap = this.#gaps.shift(); gap !== undefined; gap = this.#gaps.shift()) {
      await this.#writer.commit(gap.standing);
      await this.#writer.commitGap(gap.window);
    }
  }

  #note(event: TailEvent): void {
    if (event.kind === 'gap') {
      if (this.#options.isNew && this.#writer.isEmpty) {
        this.#writer.beginAt(event.to);
        return;
      }
      this.#gaps.push({ window: { from: event.from, to: event.to }, standing: this.#standing });
    }
    this.#options.onEvent?.(event);
  }
}

function ignore(): void {
  // It is told where it is waited for.
}
