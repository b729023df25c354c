import { isNarrow } from '../render/ruler.ts';
import type { Output } from './output.ts';

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
