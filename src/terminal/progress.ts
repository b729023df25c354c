import type { Clock } from '../clock.ts';
import { cleanText } from '../render/clean.ts';
import type { LiveLine } from './live-line.ts';
import type { Notices } from './notices.ts';
import { Transfer, type TransferProgress } from './transfer-progress.ts';
import { Wait, type WaitProgress } from './wait-progress.ts';

const REPAINT_MS = 100;

/** What shows progress is given. */
export interface ProgressOptions {
  readonly notices: Notices;
  readonly clock: Clock;
  /** The line to paint on; absent where stderr is no terminal, and plain lines stand in. */
  readonly live?: LiveLine | undefined;
  /** Ends the painting and gives the cursor back as soon as it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Whether block and braille characters may be used. Default true. */
  readonly unicode?: boolean | undefined;
}

/** Something under way, as one line of text. */
export interface Painted {
  /** The line now, at best within `columns`; `frame` counts repaints. */
  line(now: number, frame: number, columns: number): string;
}

/** What a thing under way may ask of its surroundings. */
export interface Stage {
  readonly clock: Clock;
  readonly unicode: boolean;
  /** Whether a live line is painted, so that plain lines need not be written. */
  readonly isLive: boolean;
  note(text: string): void;
  leave(item: Painted): void;
}

/**
 * Progress of long work, in one style. On a terminal a single live line is repainted; elsewhere plain lines come
 * at sensible intervals. Written by hand: the known spinner and bar packages take their time from the real clock,
 * know nothing of each other or of other lines, and stay silent or write escapes into a pipe.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #stage: Stage;
  #items: readonly Painted[] = [];
  #stop: AbortController | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
    const { notices, clock, unicode = true } = options;
    const isLive = options.live !== undefined && notices.shows('normal');
    this.#stage = {
      clock,
      unicode,
      isLive,
      note: (text) => notices.note(text),
      leave: (item) => this.#remove(item),
    };
    options.signal?.addEventListener('abort', () => this.end(), { once: true });
  }

  /** A transfer of `total` bytes (undefined where that is not known): bar, bytes, rate and time left. `from` are done already. */
  bytes(label: string, total?: number, from = 0): TransferProgress {
    return this.#add(new Transfer(cleanText(label), { total, from }, this.#stage));
  }

  /** A wait for something to change: its state, how long it has taken, and when the next look is. */
  waiting(label: string): WaitProgress {
    return this.#add(new Wait(cleanText(label), this.#stage));
  }

  /** A wait that is worth a line only where the line is repainted. */
  watching(label: string): WaitProgress | undefined {
    return this.#stage.isLive ? this.waiting(label) : undefined;
  }

  /** Stops all painting and gives the cursor back. */
  end(): void {
    this.#items = [];
    this.#stop?.abort();
    this.#stop = undefined;
    this.#options.live?.end();
  }

  #add<I extends Painted>(item: I): I {
    if (!this.#stage.isLive || this.#options.signal?.aborted === true) return item;
    this.#items = [...this.#items, item];
    if (this.#stop === undefined) {
      this.#stop = new AbortController();
      void this.#repaint(this.#stop.signal);
    }
    return item;
  }

  #remove(item: Painted): void {
    this.#items = this.#items.filter((other) => other !== item);
    if (this.#items.length === 0) this.end();
  }

  async #repaint(stop: AbortSignal): Promise<void> {
    const { clock, live } = this.#options;
    for (let frame = 0; !stop.aborted; frame += 1) {
      const [first, ...others] = this.#items;
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      if (first !== undefined) live?.show(first.line(clock.now(), frame, live.columns - more.length) + more);
      await clock.sleep(REPAINT_MS, stop).catch(() => {});
    }
  }
}
