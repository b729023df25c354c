import type { Clock } from '../system.ts';
import type { LiveLine, LiveText } from './live-line.ts';
import type { Messages } from './messages.ts';
import { cleanText } from './text.ts';
import { Transfer, type TransferProgress } from './transfer-progress.ts';
import { Wait, type WaitProgress } from './wait-progress.ts';

/** What is over sooner is not shown: spinner and bar take time to load, and would only flash. */
const SHOW_AFTER_MS = 1000;
const UPDATE_MS = 250;

/** What shows progress is given. */
export interface ProgressOptions {
  readonly notices: Messages;
  readonly clock: Clock;
  /** The line to paint on; absent where stderr is no terminal, and plain lines stand in. */
  readonly live?: LiveLine | undefined;
  /** Ends the painting and gives the cursor back as soon as it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Something under way, as one line of text. */
export interface Painted {
  /** What to show now, at best within `columns`. */
  line(now: number, columns: number): LiveText;
}

/** What a thing under way may ask of its surroundings. */
export interface Stage {
  readonly clock: Clock;
  /** Whether a live line is painted, so that plain lines need not be written. */
  readonly isLive: boolean;
  note(text: string): void;
  success(text: string): void;
  leave(item: Painted): void;
}

/**
 * Progress of long work, in one style. On a terminal a single live line shows what has lasted a second, as a spinner
 * (ora) or a bar (cli-progress); elsewhere plain lines come at sensible intervals.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #stage: Stage;
  #items: readonly Painted[] = [];
  #stop: AbortController | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
    const { notices, clock } = options;
    const isLive = options.live !== undefined && notices.shows('normal');
    this.#stage = {
      clock,
      isLive,
      note: (text) => notices.note(text),
      success: (text) => notices.success(text),
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
    if (live === undefined) return;
    await clock.sleep(SHOW_AFTER_MS, stop).catch(() => {});
    while (!stop.aborted) {
      const [first, ...others] = this.#items;
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      const line = first?.line(clock.now(), live.columns - more.length);
      if (line !== undefined) await live.show(withMore(line, more), stop);
      await clock.sleep(UPDATE_MS, stop).catch(() => {});
    }
  }
}

function withMore({ text, bar }: LiveText, more: string): LiveText {
  return bar === undefined ? { text: text + more } : { text, bar: { ...bar, numbers: bar.numbers + more } };
}
