import type { WriteStream } from 'node:tty';
import type { Ora } from 'ora';
import { isNarrow } from './text.ts';

const SPINNER_COLUMNS = 2;

/** The last line of a terminal, repainted in place behind a spinner; it makes room for other text. */
export class LiveLine {
  /** Whether the terminal shows block characters. */
  readonly unicode: boolean;
  readonly #stream: WriteStream;
  readonly #redact: (text: string) => string;
  #spinner: Ora | undefined;
  #hidden = 0;

  constructor(stream: WriteStream, redact: (text: string) => string, unicode: boolean) {
    this.#stream = stream;
    this.#redact = redact;
    this.unicode = unicode;
  }

  /** The columns for text. The last column of the terminal stays free, since a full line makes some terminals wrap. */
  get columns(): number {
    return Math.max(0, columnsOf(this.#stream) - 1 - SPINNER_COLUMNS);
  }

  /** Replaces the line by this text, cut to the terminal. The cursor is hidden. */
  async show(text: string, stop: AbortSignal): Promise<void> {
    const fitted = cutRoughly(this.#redact(text), this.columns);
    if (this.#spinner !== undefined) {
      this.#spinner.text = fitted;
      return;
    }
    const spinner = await createSpinner(this.#stream, this.unicode);
    if (stop.aborted) return;
    this.#spinner = spinner;
    spinner.text = fitted;
    if (this.#hidden === 0) spinner.start();
  }

  /** Removes the line and shows the cursor. Safe to call at any time and repeatedly. */
  end(): void {
    if (this.#hidden === 0) this.#spinner?.stop();
    this.#spinner = undefined;
  }

  /** Removes the line while other text is written or a question is open. Each call needs a {@link redraw}. */
  hide(): void {
    this.#hidden += 1;
    if (this.#hidden === 1) this.#spinner?.stop();
  }

  /** Shows the line again after {@link hide}. */
  redraw(): void {
    this.#hidden -= 1;
    if (this.#hidden === 0) this.#spinner?.start();
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

async function createSpinner(stream: WriteStream, unicode: boolean): Promise<Ora> {
  const { default: ora } = await import('ora');
  return ora({
    stream: withKnownColumns(stream),
    spinner: unicode ? 'dots' : 'line',
    color: false,
    // svc decides itself whether to draw, and raw input would stop Ctrl-C from being a signal.
    isEnabled: true,
    discardStdin: false,
  });
}

// The module for exact widths is slow to load. Counting two columns for all but ASCII and our drawing characters may
// cut too early, but never wraps.
function cutRoughly(text: string, columns: number): string {
  if (isNarrow(text)) return text.slice(0, columns);
  let used = 0;
  let cut = '';
  for (const character of text) {
    used += /[\x20-\x7e…█░]/.test(character) ? 1 : 2;
    if (used > columns) return cut;
    cut += character;
  }
  return cut;
}
