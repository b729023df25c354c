import type { Output } from './output.ts';
import { cleanText, wrapWords } from './text.ts';
import { MARKS, paint, type Palette, plainPalette, type Tone } from './view.ts';

/** How much is said on stderr. */
export type NoticeLevel = 'quiet' | 'normal' | 'debug';

const RANK = { quiet: 0, normal: 1, debug: 2 } as const;

/** Messages on stderr, by level. Every text is cleaned; callers do not wait for it to be written. */
export class Messages {
  readonly level: NoticeLevel;
  readonly #out: Output;
  readonly #palette: Palette;
  readonly #marks: boolean;
  readonly #unicode: boolean;
  #last: Promise<void> = Promise.resolve();
  readonly #subject: string;
  #isApart = true;

  /** `unicode`: whether a terminal can show ✓ and ✗. */
  constructor(out: Output, level: NoticeLevel, palette: Palette = plainPalette, unicode = false, subject = '') {
    this.#out = out;
    this.#subject = subject;
    this.#unicode = unicode;
    this.level = level;
    this.#palette = palette;
    this.#marks = unicode && out.isTerminal;
  }

  /** The same, but each text begins with what it is about. */
  of(subject: string): Messages {
    return new Messages(this.#out, this.level, this.#palette, this.#unicode, `${subject}: `);
  }

  /** Data was written: on a terminal an empty line sets the next notice apart from it. */
  setApart(): void {
    this.#isApart = false;
  }

  /** What happened or happens next. Not with `--quiet`. */
  note(text: string): void {
    if (this.shows('normal')) this.#print(text, { tone: 'quiet' });
  }

  /** Something succeeded: a terminal shows ✓ before it. Not with `--quiet`. */
  success(text: string): void {
    this.#result(text, 'good');
  }

  /** Something failed and the command continues or reports it as a result: a terminal shows ✗ before it. Not with `--quiet`. */
  failure(text: string): void {
    this.#result(text, 'bad');
  }

  /** A command to copy, on a line of its own: a terminal that broke it would break the command. */
  command(text: string, level: NoticeLevel = 'normal'): void {
    if (this.shows(level)) this.#send(`  ${cleanText(text)}\n`);
  }

  /** Something to check. Shown with `--quiet` too. */
  warn(text: string): void {
    this.#print(text, { mark: 'warning: ', markTone: 'warn' });
  }

  /** For finding faults, with `--debug`. */
  debug(text: string): void {
    if (this.shows('debug')) this.#print(text, { tone: 'quiet' });
  }

  /** A finished report of the error reporter, already clean and with its newline, at every level. */
  report(text: string): void {
    this.#send(text);
  }

  /** Whether texts of this level are shown: ask before building a costly one. */
  shows(level: NoticeLevel): boolean {
    return RANK[this.level] >= RANK[level];
  }

  /** Resolves when stderr has taken everything said so far, or failed to. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #result(text: string, tone: 'good' | 'bad'): void {
    if (this.shows('normal')) this.#print(text, this.#marks ? { mark: MARKS[tone], markTone: tone } : {});
  }

  // A notice is one line, so that text from elsewhere (an event's id, say) cannot pass for another notice.
  #print(text: string, { mark = '', markTone, tone }: { mark?: string; markTone?: Tone; tone?: Tone }): void {
    const clean = this.#fitted(cleanText(this.#subject + text), mark.length);
    const gap = this.#isApart || !this.#out.isTerminal ? '' : '\n';
    this.#isApart = true;
    this.#send(`${gap}${paint(mark, markTone, this.#palette)}${paint(clean, tone, this.#palette)}\n`);
  }

  // A terminal would break a line within a word; elsewhere a line is a line.
  #fitted(text: string, taken: number): string {
    const width = this.#out.isTerminal ? this.#out.width - taken : Infinity;
    if (text.length <= width) return text;
    const indent = /^ */.exec(text)?.[0] ?? '';
    const lines = wrapWords(text, width - indent.length).map((part) => indent + part);
    return lines.join('\n');
  }

  // When stderr fails there is nowhere left to say so. Writes end in the order in which they began.
  #send(text: string): void {
    this.#last = this.#out.write(text).catch(() => {});
  }
}
