import type { WriteStream } from 'node:tty';
import { isNarrow } from './text.ts';

/** The content of a live line: text behind a spinner or, if a share is known, a bar between label and numbers. */
export interface LiveText {
  /** The text behind the spinner, or before the bar. */
  readonly text: string;
  readonly bar?: { readonly share: number; readonly columns: number; readonly numbers: string } | undefined;
}

interface Painter {
  start(): void;
  update(shown: LiveText): void;
  stop(): void;
}

/** The last line of a terminal, repainted in place; it makes room for other text. */
export class LiveLine {
  readonly #stream: WriteStream;
  readonly #redact: (text: string) => string;
  readonly #unicode: boolean;
  #painter: Painter | undefined;
  #kind: 'spinner' | 'bar' | undefined;
  #hidden = 0;

  constructor(stream: WriteStream, redact: (text: string) => string, unicode: boolean) {
    this.#stream = stream;
    this.#redact = redact;
    this.#unicode = unicode;
  }

  /** The columns of the line. The last column of the terminal stays free, since a full line makes some terminals wrap. */
  get columns(): number {
    return columnsOf(this.#stream) - 1;
  }

  /** Replaces the line by this content, cut to the terminal. The cursor is hidden. */
  async show({ text, bar }: LiveText, stop: AbortSignal): Promise<void> {
    const kind = bar === undefined ? 'spinner' : 'bar';
    if (kind !== this.#kind) {
      this.end();
      const create = kind === 'bar' ? createBar : createSpinner;
      const painter = await create(this.#stream, this.#unicode);
      if (stop.aborted) return;
      this.#kind = kind;
      this.#painter = painter;
      painter.update({ text: this.#fitted(text), bar });
      if (this.#hidden === 0) painter.start();
      return;
    }
    this.#painter?.update({ text: this.#fitted(text), bar });
  }

  /** Removes the line and shows the cursor. Safe to call at any time and repeatedly. */
  end(): void {
    if (this.#hidden === 0) this.#painter?.stop();
    this.#kind = undefined;
    this.#painter = undefined;
  }

  /** Removes the line while other text is written or a question is open. Each call needs a {@link redraw}. */
  hide(): void {
    this.#hidden += 1;
    if (this.#hidden === 1) this.#painter?.stop();
  }

  /** Shows the line again after {@link hide}. */
  redraw(): void {
    this.#hidden -= 1;
    if (this.#hidden === 0) this.#painter?.start();
  }

  #fitted(text: string): string {
    return cutRoughly(this.#redact(text), Math.max(0, this.columns - 2));
  }
}

/** Returns the columns of a terminal. One that does not know its size, such as a serial console, reports 0. */
function columnsOf({ columns }: WriteStream): number {
  return columns || 80;
}

/** Returns a view of a terminal for ora, which divides by the columns and with 0 of them would clear lines without end. */
function withKnownColumns(stream: WriteStream): WriteStream {
  // ora replaces `write` for a while, of the view and of stderr, and must find the same two when it puts them back.
  const replaced = new Map<string | symbol, unknown>();
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'columns') return columnsOf(target);
      if (replaced.has(name)) return replaced.get(name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function'
        ? (...args: unknown[]): unknown => Reflect.apply(member, target, args)
        : member;
    },
    set(_, name, next) {
      replaced.set(name, next);
      return true;
    },
  });
}

async function createSpinner(stream: WriteStream, unicode: boolean): Promise<Painter> {
  const { default: ora } = await import('ora');
  const spinner = ora({
    stream: withKnownColumns(stream),
    spinner: unicode ? 'dots' : 'line',
    color: false,
    // svc decides itself whether to draw, and raw input would stop Ctrl-C from being a signal.
    isEnabled: true,
    discardStdin: false,
  });
  return {
    start: () => void spinner.start(),
    update: ({ text }) => {
      spinner.text = text;
    },
    stop: () => void spinner.stop(),
  };
}

async function createBar(stream: WriteStream, unicode: boolean): Promise<Painter> {
  const { default: cliProgress } = await import('cli-progress');
  let shown: LiveText = { text: '' };
  const bar = new cliProgress.SingleBar({
    stream,
    format: (options, { progress }) => {
      const { columns = 0, numbers = '' } = shown.bar ?? {};
      const drawn = cliProgress.Format.BarFormat(progress, { ...options, barsize: columns });
      return [shown.text, drawn, numbers].filter(Boolean).join(' ');
    },
    barsize: 40,
    barCompleteChar: unicode ? '█' : '#',
    barIncompleteChar: unicode ? '░' : '.',
    fps: 10,
    hideCursor: true,
    clearOnComplete: true,
    // The command handles interrupts itself and then ends the bar.
    gracefulExit: false,
  });
  return {
    start: () => bar.start(1, shown.bar?.share ?? 0),
    update: (next) => {
      shown = next;
      bar.update(next.bar?.share ?? 0);
    },
    stop: () => bar.stop(),
  };
}

// The module for exact widths takes 50 ms to load. Counting two columns for all but ASCII and our drawing characters may
// cut too early, but never wraps.
function cutRoughly(text: string, columns: number): string {
  if (isNarrow(text)) return text.slice(0, columns);
  let used = 0;
  let cut = '';
  for (const character of text) {
    used += /[\x20-\x7e…]/.test(character) ? 1 : 2;
    if (used > columns) return cut;
    cut += character;
  }
  return cut;
}
