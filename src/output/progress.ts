import type { Clock } from '../system.ts';
import type { Messages } from './messages.ts';
import type { Output } from './output.ts';
import { cleanText, isNarrow } from './text.ts';
import { Transfer, type TransferProgress } from './transfer-progress.ts';
import { Wait, type WaitProgress } from './wait-progress.ts';

const REPAINT_MS = 100;

/** What shows progress is given. */
export interface ProgressOptions {
  readonly notices: Messages;
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

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const ERASE_LINE = '\r\u001b[K';

/** The last line of a terminal, repainted in place; other text makes it step aside for a moment. */
export class LiveLine {
  readonly #out: Output;
  #text: string | undefined;
  #hidden = 0;

  /** `out` must be a terminal that understands cursor movement, and an output that is not itself wrapped around this line. */
  constructor(out: Output) {
    this.#out = out;
  }

  /** Columns that the line can take. The last of the terminal stays free: a full line makes some terminals wrap. */
  get columns(): number {
    return this.#out.width - 1;
  }

  /** Shows `text` (clean, one line) in place of what was shown, cut to the terminal. The cursor hides. */
  show(text: string): void {
    const begun = this.#text === undefined;
    this.#text = text;
    if (begun && this.#hidden === 0) this.#send(HIDE_CURSOR);
    this.#paint();
  }

  /** Takes the line away and gives the cursor back. Safe to call at any time and more than once. */
  end(): void {
    if (this.#text === undefined) return;
    this.#text = undefined;
    if (this.#hidden === 0) this.#send(ERASE_LINE + SHOW_CURSOR);
  }

  /** Takes the line away while other text is written or asked for. Each call needs a {@link redraw}. */
  hide(): void {
    this.#hidden += 1;
    if (this.#hidden === 1 && this.#text !== undefined) this.#send(ERASE_LINE + SHOW_CURSOR);
  }

  /** Shows the line again after {@link hide}. */
  redraw(): void {
    this.#hidden -= 1;
    if (this.#hidden > 0 || this.#text === undefined) return;
    this.#send(HIDE_CURSOR);
    this.#paint();
  }

  #paint(): void {
    if (this.#hidden > 0 || this.#text === undefined) return;
    this.#send(ERASE_LINE + cutRoughly(this.#out.redact(this.#text), this.columns));
  }

  // Nobody waits for a live line, and one that cannot be shown is no failure of the command.
  #send(text: string): void {
    this.#out.write(text).catch(() => {});
  }
}

// Exact widths take 50 ms to load. Counting two columns for all but ASCII and our own drawing characters can only
// cut too early, and so never wraps.
function cutRoughly(text: string, columns: number): string {
  if (isNarrow(text)) return text.slice(0, columns);
  let used = 0;
  let cut = '';
  for (const character of text) {
    used += /[\x20-\x7e\u2500-\u259f\u2800-\u28ff…]/.test(character) ? 1 : 2;
    if (used > columns) return cut;
    cut += character;
  }
  return cut;
}
